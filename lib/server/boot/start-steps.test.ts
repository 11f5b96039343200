import { expect, test } from "vitest";
import { ConnectionLost } from "#lib/db/failure.ts";
import { untilDone } from "#lib/server/boot/start-steps.ts";

const failing = (...errors: readonly Error[]) => {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error) throw error;
    return "done";
  };
};
const withCode = (code: string, message = code) => Object.assign(new Error(message), { code });

test("a start repeats a step that a slow or lost database has failed, and says the cause", async () => {
  const said: string[] = [];
  const steps = untilDone((line) => said.push(line));
  const lost = new ConnectionLost(
    "The connection could not be opened.",
    withCode("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432"),
  );
  expect(await steps(failing(lost, withCode("57014", "canceling statement")))).toBe("done");
  expect(said).toEqual([
    "The connection could not be opened. (CONNECTION_LOST) Cause: connect ECONNREFUSED 127.0.0.1:5432 Trying again.",
    "canceling statement (57014) Trying again.",
  ]);
});

test("a start does not repeat what cannot pass by itself, nor after its time or once it is asked to end", async () => {
  const say = (line: string) => expect.unreachable(line);
  const refused = new ConnectionLost("The connection could not be opened.", withCode("28P01"));
  for (const error of [new Error("A migration was changed."), refused, withCode("3D000")])
    await expect(untilDone(say)(failing(error))).rejects.toBe(error);
  const slow = withCode("57014");
  await expect(untilDone(say, () => false, 0)(failing(slow))).rejects.toBe(slow);
  await expect(untilDone(say, () => true)(failing(slow))).rejects.toBe(slow);
});
