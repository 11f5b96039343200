import { describe, expect, it } from "vitest";
import { isLoopbackAddress, isPublicAddress, outboundTarget } from "#lib/outbound/outbound-address.ts";

const rules = { loopback: ["127.0.0.1:4021"], own: ["https://pay.example.com", "http://localhost:3000"] };
const target = (url: string) => outboundTarget(url, rules);

describe("outboundTarget", () => {
  it.each([
    ["https://shop.example.com/a?b=c"],
    ["https://shop.example.com:8443/"],
    ["https://EXAMPLE.com:443"],
    ["https://8.8.8.8/"],
    ["https://[2606:4700::1111]/"],
    ["http://127.0.0.1:4021/"],
    ["http://localhost:4021/"],
    ["http://[::1]:4021/"],
    ["https://localhost:4021/"],
    ["http://2130706433:4021/"],
  ])("lets %s through", (url) => expect(target(url)).toMatchObject({ ok: true }));

  it.each([
    ["a decimal address", "https://2130706433/"],
    ["a hexadecimal address", "https://0x7f.1/"],
    ["an octal address", "https://0177.0.0.1/"],
    ["a short address", "https://127.1/"],
    ["zero", "https://0/"],
    ["a mapped address", "https://[::ffff:127.0.0.1]/"],
    ["a mapped public address", "https://[::ffff:8.8.8.8]/"],
    ["an address in circled digits", "https://①②⑦.⓪.⓪.①/"],
    ["an old IPv4-compatible address", "https://[::127.0.0.1]/"],
    ["loopback of IPv6", "https://[::1]/"],
    ["a private network", "https://10.0.0.1/"],
    ["another private network", "https://192.168.1.1/"],
    ["a private network of IPv6", "https://[fd00::1]/"],
    ["a cloud's metadata", "https://169.254.169.254/latest/meta-data"],
    ["a cloud's metadata by name", "https://metadata.google.internal/"],
    ["carrier-grade NAT", "https://100.64.0.1/"],
    ["a translated address", "https://[64:ff9b::7f00:1]/"],
    ["a tunnelled address", "https://[2002:7f00:1::]/"],
    ["unassigned IPv6", "https://[4000::1]/"],
    ["broadcast", "https://255.255.255.255/"],
    ["multicast", "https://224.0.0.1/"],
    ["http", "http://shop.example.com/"],
    ["http on another port of this machine", "http://127.0.0.1:4022/"],
    ["localhost", "https://localhost/"],
    ["a name below localhost", "https://a.localhost/"],
    ["a machine's name", "https://printer/"],
    ["a name of the local network", "https://printer.local/"],
    ["a service of a cluster", "https://api.payments.svc/"],
    ["a service of a cluster by its whole name", "https://api.payments.svc.cluster.local/"],
    ["a service of a cluster with another zone", "https://api.payments.svc.cluster/"],
    ["a service of a registry", "https://db.service.consul/"],
    ["a container", "https://web.docker/"],
    ["a container's host", "https://host.docker.internal/"],
    ["a name of a company's network", "https://wiki.intranet/"],
    ["a name without a zone", "https://web.localdomain/"],
    ["another port", "https://shop.example.com:22/"],
    ["http's port", "https://shop.example.com:80/"],
    ["a user name", "https://shop.example.com@evil.example/"],
    ["a password", "https://a:b@shop.example.com/"],
    ["a trailing dot", "https://shop.example.com./"],
    ["a file", "file:///etc/passwd"],
    ["data", "data:application/json,{}"],
    ["a script", "javascript:alert(1)"],
    ["nothing at all", ""],
    ["a path alone", "/catalog"],
    ["our own host", "https://pay.example.com/api/v1"],
    ["our own host on another port", "https://pay.example.com:8443/"],
    ["our own host in capitals", "https://PAY.example.com/"],
    ["our own sandbox", "http://localhost:3000/"],
    ["more than 2,048 characters", `https://shop.example.com/${"a".repeat(2_048)}`],
  ])("refuses %s", (_, url) => expect(target(url)).toMatchObject({ ok: false }));

  it("refuses the service's own host even if it is listed", () => {
    expect(outboundTarget("http://localhost:3000/", { ...rules, loopback: ["localhost:3000"] })).toMatchObject({ ok: false });
  });
});

describe("isPublicAddress", () => {
  it.each(["93.184.216.34", "2606:4700::1111"])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));
  it.each([
    "127.0.0.1",
    "0.0.0.0",
    "::",
    "fe80::1%eth0",
    "192.31.196.1",
    "2001:20::1",
    "198.18.0.1",
    "100::1",
    "example.com",
    "",
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});

describe("isLoopbackAddress", () => {
  it.each(["127.0.0.1", "127.8.8.8", "::1"])("%s is a loopback address", (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  );
  it.each(["10.0.0.1", "::ffff:127.0.0.1", "93.184.216.34", "localhost"])("%s is not a loopback address", (address) =>
    expect(isLoopbackAddress(address)).toBe(false),
  );
});
