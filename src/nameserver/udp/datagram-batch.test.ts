/** The layout of a batch, read back the way the kernel reads it. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Client, TRANSPORT } from "../client.ts";
import { DatagramBatch, MAX_QUERY_OCTETS } from "./datagram-batch.ts";

/** Above 4 GiB, and so near to the next 4 GiB that the batch lies on both sides. */
const BASE = 0x7f12_ffff_f000;

const ipv4 = Uint8Array.from([2, 0, 0xd4, 0x31, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0]);

function makeClient(): Client {
  return { transport: TRANSPORT.udp, address: new Uint8Array(16), addressLength: 0, port: 0 };
}

/** `sockaddr_in6` of port 4660. */
function ipv6(...address: number[]): Uint8Array {
  return Uint8Array.from([10, 0, 0x12, 0x34, 0, 0, 0, 0, ...address, 0, 0, 0, 0]);
}

suite("a batch", () => {
  const batch = new DatagramBatch(4, { nameOctets: 16, controlOctets: 32 }, () => BASE);
  const view = new DataView(batch.octets.buffer);
  const pointer = (at: number) => Number(view.getBigUint64(at, true)) - BASE;
  const header = (address: number, slot: number) => {
    const at = address - BASE + slot * DatagramBatch.HEADER_OCTETS;
    const vector = pointer(at + 16);
    return {
      name: pointer(at),
      nameLength: view.getUint32(at + 8, true),
      vectors: Number(view.getBigUint64(at + 24, true)),
      data: pointer(vector),
      dataLength: Number(view.getBigUint64(vector + 8, true)),
      control: pointer(at + 32),
      controlLength: Number(view.getBigUint64(at + 40, true)),
    };
  };

  test("gives the kernel a place for each query", () => {
    for (let slot = 0; slot < 4; slot++) {
      const { data, dataLength, nameLength, vectors } = header(batch.receiveHeaders, slot);
      assert.equal(data, batch.queryStart(slot));
      assert.equal(dataLength, MAX_QUERY_OCTETS);
      assert.equal(nameLength, 16);
      assert.equal(vectors, 1);
    }
    const places = [0, 1, 2, 3].flatMap((slot) => {
      const { name, control } = header(batch.receiveHeaders, slot);
      return [name, control, batch.queryStart(slot), batch.replyStart(slot)];
    });
    assert.equal(new Set(places).size, places.length);
  });

  test("sends a reply from any slot to the sender of a query in any other", () => {
    // cmsg: length 28, level SOL_IP, type IP_PKTINFO; interface 3, address asked, address in the header.
    const control = new Uint8Array(32);
    control.set([28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 127, 0, 0, 2]);
    batch.setPeer(3, { name: ipv4, control });
    batch.addressReply(1, 3, 100);
    const asked = header(batch.receiveHeaders, 3);
    const sent = header(batch.sendHeaders, 1);
    assert.equal(sent.name, asked.name);
    assert.equal(sent.data, batch.replyStart(1));
    assert.equal(sent.dataLength, 100);
    assert.equal(sent.control, asked.control);
    assert.equal(sent.controlLength, 32);
    assert.equal(view.getUint32(sent.control + 16, true), 0, "the interface is left open");
    assert.deepEqual(
      [...batch.octets.subarray(sent.control + 20, sent.control + 24)],
      [127, 0, 0, 2],
    );
    assert.deepEqual(batch.copyPeer(3).name, ipv4);
  });

  test("offers the whole space for control messages again", () => {
    batch.setPeer(0, { name: ipv4, control: new Uint8Array(0) });
    assert.equal(header(batch.receiveHeaders, 0).controlLength, 0);
    batch.rearm(1);
    assert.equal(header(batch.receiveHeaders, 0).controlLength, 32);
  });
});

suite("who sent a datagram", () => {
  const small = new DatagramBatch(1, { nameOctets: 16, controlOctets: 0 }, () => BASE);
  const large = new DatagramBatch(1, { nameOctets: 28, controlOctets: 0 }, () => BASE);
  const read = (batch: DatagramBatch, name: Uint8Array) => {
    const client = makeClient();
    batch.setPeer(0, { name, control: new Uint8Array(0) });
    const canReply = batch.readClient(0, client);
    return {
      canReply,
      port: client.port,
      address: [...client.address.subarray(0, client.addressLength)],
    };
  };

  test("is an IPv4 address and a port", () => {
    const client = { canReply: true, port: 0xd431, address: [192, 0, 2, 7] };
    assert.deepEqual(read(small, ipv4), client);
  });

  test("is an IPv6 address and a port", () => {
    const address = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
    assert.deepEqual(read(large, ipv6(...address)), { canReply: true, port: 4660, address });
    const nearlyMapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 1, 2, 3, 4];
    assert.deepEqual(read(large, ipv6(...nearlyMapped)).address, nearlyMapped);
  });

  test("is an IPv4 address when a socket for both maps it into IPv6", () => {
    const mapped = ipv6(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 7);
    assert.deepEqual(read(large, mapped), { canReply: true, port: 4660, address: [192, 0, 2, 7] });
  });

  test("gets no reply at port 0", () => {
    assert.equal(read(small, ipv4.with(2, 0).with(3, 0)).canReply, false);
  });
});
