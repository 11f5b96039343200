/** The command of the package closes its channel when it ends, also if it is killed. This process then ends too. */
process.once("disconnect", () => {
  if (!process.emit("SIGTERM")) process.exit(1);
});
