# docker build -t countersign . && docker run -p 3000:3000 -v countersign:/data --read-only --tmpfs /tmp countersign
FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN deploy/build.sh /out

FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY deploy/install.sh ./
COPY --from=build /out /out
RUN ./install.sh /out /app

FROM node:24-bookworm-slim
RUN install -d -o node -g node /data
COPY --from=install /app /app
ENV DATA_DIR=/data PORT=3000
VOLUME /data
WORKDIR /data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/v1/health/ready`).then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/node_modules/.bin/countersign-server"]
CMD ["start"]
