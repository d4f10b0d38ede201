// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The functions in a driver's table, which libibverbs itself provides only as inline code. All
/// return 0 or a negative `errno`, except `poll`.
public final class DataPath {

  // int (*poll_cq)(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc); never blocks
  private static final MethodHandle POLL_CQ =
      NativeCall.plain(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS),
          Linker.Option.critical(false));
  // int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
  private static final MethodHandle REQ_NOTIFY_CQ =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
  // int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
  private static final MethodHandle POST_SEND =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));
  // int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
  //     struct ibv_recv_wr **bad_wr);
  private static final MethodHandle POST_SRQ_RECV =
      NativeCall.plain(
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS),
          Linker.Option.critical(false));

  private final MemorySegment pollCq;
  private final MemorySegment reqNotifyCq;
  private final MemorySegment postSend;
  private final MemorySegment postSrqRecv;

  /// Creates the functions of this context, which must remain open during their use.
  public DataPath(MemorySegment context) {
    pollCq = function(context, "poll_cq");
    reqNotifyCq = function(context, "req_notify_cq");
    postSend = function(context, "post_send");
    postSrqRecv = function(context, "post_srq_recv");
  }

  private static MemorySegment function(MemorySegment context, String name) {
    return context.get(ADDRESS, Structs.offset(Structs.CONTEXT, name));
  }

  /// Returns whether the table has all four.
  public boolean isComplete() {
    return pollCq.address() != 0
        && reqNotifyCq.address() != 0
        && postSend.address() != 0
        && postSrqRecv.address() != 0;
  }

  /// Polls at most `max` completions into an array of `Structs.WC`; returns their count or a
  /// negative number.
  ///
  /// Hot path.
  public int poll(long cq, int max, MemorySegment completions) {
    try {
      return (int) POLL_CQ.invokeExact(pollCq, cq, max, completions);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw NativeCall.thrown(e);
    }
  }

  /// Makes the next completion send an event to the queue's channel.
  public int arm(long cq) {
    try {
      return -Math.abs((int) REQ_NOTIFY_CQ.invokeExact(reqNotifyCq, cq, 0));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw NativeCall.thrown(e);
    }
  }

  /// Posts a chain of `Structs.SEND_WR`; `bad` receives the first rejected request.
  ///
  /// Hot path.
  public int postSend(long qp, MemorySegment request, MemorySegment bad) {
    try {
      return -Math.abs((int) POST_SEND.invokeExact(postSend, qp, request, bad));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw NativeCall.thrown(e);
    }
  }

  /// Posts a chain of `Structs.RECV_WR`; `bad` receives the first rejected request.
  ///
  /// Hot path.
  public int postReceive(long srq, MemorySegment request, MemorySegment bad) {
    try {
      return -Math.abs((int) POST_SRQ_RECV.invokeExact(postSrqRecv, srq, request, bad));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw NativeCall.thrown(e);
    }
  }
}
