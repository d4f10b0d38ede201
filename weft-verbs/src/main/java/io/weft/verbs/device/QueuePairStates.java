// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.ToIntFunction;

/// Changes the state of a queue pair: initialized, ready to receive, ready to send, failed.
final class QueuePairStates {

  static final int MAX_READS = 16;

  private static final int INITIALIZED = 1;
  private static final int READY_TO_RECEIVE = 2;
  private static final int READY_TO_SEND = 3;
  private static final int ERROR = 6;

  // enum ibv_qp_attr_mask
  private static final int STATE = 1;
  private static final int ACCESS = 1 << 3;
  private static final int PARTITION = 1 << 4;
  private static final int PORT = 1 << 5;
  private static final int PATH = 1 << 7;
  private static final int MTU = 1 << 8;
  private static final int TIMEOUT = 1 << 9;
  private static final int RETRIES = 1 << 10;
  private static final int RECEIVER_RETRIES = 1 << 11;
  private static final int RECEIVE_SEQUENCE = 1 << 12;
  private static final int READS = 1 << 13;
  private static final int RECEIVER_WAIT = 1 << 15;
  private static final int SEND_SEQUENCE = 1 << 16;
  private static final int PEER_READS = 1 << 17;
  private static final int PEER = 1 << 20;

  private static final int ALL_ACCESS = 1 | 2 | 4 | 8;
  private static final int HOPS = 64;

  private final Device device;
  private final long queuePair;

  QueuePairStates(Device device, long queuePair) {
    this.device = device;
    this.queuePair = queuePair;
  }

  void initialize(Port port) {
    change(
        "initialize",
        attr -> {
          attr.set(JAVA_INT, at("qp_state"), INITIALIZED);
          attr.set(JAVA_BYTE, at("port_num"), (byte) port.number());
          attr.set(JAVA_INT, at("qp_access_flags"), ALL_ACCESS);
          return STATE | PARTITION | PORT | ACCESS;
        });
  }

  void receive(
      Port port, QueuePairAddress own, QueuePairAddress peer, int receiverWait, int reads) {
    change(
        "connect to queue pair " + peer.number() + " at " + peer.gid(),
        attr -> {
          attr.set(JAVA_INT, at("qp_state"), READY_TO_RECEIVE);
          attr.set(JAVA_INT, at("path_mtu"), Math.min(own.mtu(), peer.mtu()));
          attr.set(JAVA_INT, at("rq_psn"), peer.sequence());
          attr.set(JAVA_INT, at("dest_qp_num"), peer.number());
          attr.set(JAVA_BYTE, at("max_dest_rd_atomic"), (byte) reads);
          attr.set(JAVA_BYTE, at("min_rnr_timer"), (byte) receiverWait);
          attr.set(JAVA_SHORT, at("dlid"), (short) peer.lid());
          attr.set(JAVA_BYTE, at("ah_port_num"), (byte) port.number());
          if (port.isEthernet()) {
            // RoCE identifies the peer only by its global address.
            attr.set(JAVA_BYTE, at("is_global"), (byte) 1);
            attr.set(JAVA_BYTE, at("sgid_index"), (byte) own.gid().index());
            attr.set(JAVA_BYTE, at("hop_limit"), (byte) HOPS);
            MemorySegment.copy(peer.gid().bytes(), 0, attr, JAVA_BYTE, at("dgid"), Gid.BYTES);
          }
          return STATE | PATH | MTU | PEER | RECEIVE_SEQUENCE | PEER_READS | RECEIVER_WAIT;
        });
  }

  void send(QueuePairAddress own, QueuePairSettings settings, int reads) {
    change(
        "make ready to send",
        attr -> {
          attr.set(JAVA_INT, at("qp_state"), READY_TO_SEND);
          attr.set(JAVA_INT, at("sq_psn"), own.sequence());
          attr.set(JAVA_BYTE, at("max_rd_atomic"), (byte) reads);
          attr.set(JAVA_BYTE, at("timeout"), (byte) settings.timeout());
          attr.set(JAVA_BYTE, at("retry_cnt"), (byte) settings.retries());
          attr.set(JAVA_BYTE, at("rnr_retry"), (byte) settings.receiverRetries());
          return STATE | TIMEOUT | RETRIES | RECEIVER_RETRIES | SEND_SEQUENCE | READS;
        });
  }

  void fail() {
    change(
        "end the work of",
        attr -> {
          attr.set(JAVA_INT, at("qp_state"), ERROR);
          return STATE;
        });
  }

  private void change(String how, ToIntFunction<MemorySegment> fill) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = arena.allocate(Structs.QP_ATTR);
      int mask = fill.applyAsInt(attr);
      VerbsException.check(
          device.library().resources().modifyQp(queuePair, attr, mask),
          how + " (a queue pair of " + device.name() + ")");
    }
  }

  private static long at(String field) {
    return Structs.offset(Structs.QP_ATTR, field);
  }
}
