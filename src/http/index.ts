/** HTTP as every door needs it: listening with limits, routes, bodies, and whose request it is. */
export { BodyCutShort, BodyTooLarge, readBody } from "./body.ts";
export { breakOff, isGone } from "./break-off.ts";
export { clientAddress } from "./client-address.ts";
export { SharedConnections } from "./connection-counts.ts";
export type { HttpLimits } from "./limits.ts";
export { mustBeFree } from "./must-be-free.ts";
export { type Reply, sendReply } from "./reply.ts";
export { leaveUnsent, sendBehind, sendStream, type StreamedBody } from "./send-stream.ts";
export { requestIds } from "./request-id.ts";
export { leavesMuch, octetsAtHand, requestOctets } from "./request-octets.ts";
export { type Match, Router } from "./router.ts";
export type { RejectedReply, RejectedRequest } from "./rejected.ts";
export { type HttpListener, listenHttp } from "./server.ts";
export { type ResponseHead, ResponseParser } from "./response-parser.ts";
export type { TlsOptions } from "./tls-front.ts";
export { listenUnixSocket } from "./unix-socket.ts";
export { Upstream } from "./upstream.ts";
export { type AnswerSink, type Exchange } from "./upstream-connection.ts";
