/** Both ways to serve UDP, under the one contract. */
import { isKnownPlatform } from "#kit/libc.ts";
import { udpContract } from "./udp.contract.ts";

udpContract("node:dgram", {
  endpoint: "dgram",
  severalThreads: false,
  repliesFromAsked: false,
  keepsDatagrams: false,
  longestQuery: 65_507,
});

if (isKnownPlatform) {
  udpContract("recvmmsg and sendmmsg", {
    endpoint: "batch",
    severalThreads: true,
    repliesFromAsked: true,
    keepsDatagrams: true,
    longestQuery: 4_096,
  });
}
