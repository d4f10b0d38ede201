// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Calls that create, change and destroy protection domains, memory regions, completion channels,
/// completion queues, shared receive queues and queue pairs. A creating call returns the address of
/// the resource.
public final class ResourceCalls {

  // struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
  // struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);
  private static final MethodHandle MAKE_OF_ONE =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  // int ibv_dealloc_pd(struct ibv_pd *pd);
  // int ibv_dereg_mr(struct ibv_mr *mr);
  // int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);
  // int ibv_destroy_cq(struct ibv_cq *cq);
  // int ibv_destroy_srq(struct ibv_srq *srq);
  // int ibv_destroy_qp(struct ibv_qp *qp);
  private static final MethodHandle END =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  // struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
  private static final MethodHandle REG_MR =
      NativeCall.withErrno(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT));
  // struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
  //     struct ibv_comp_channel *channel, int comp_vector);
  private static final MethodHandle CREATE_CQ =
      NativeCall.withErrno(
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  // int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
  private static final MethodHandle GET_CQ_EVENT =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));
  // void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);
  private static final MethodHandle ACK_CQ_EVENTS =
      NativeCall.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  // struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);
  // struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
  private static final MethodHandle MAKE_FROM =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS));
  // int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
  private static final MethodHandle MODIFY_QP =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_INT));

  private final MemorySegment allocPd;
  private final MemorySegment deallocPd;
  private final MemorySegment regMr;
  private final MemorySegment deregMr;
  private final MemorySegment createChannel;
  private final MemorySegment destroyChannel;
  private final MemorySegment createCq;
  private final MemorySegment destroyCq;
  private final MemorySegment getCqEvent;
  private final MemorySegment ackCqEvents;
  private final MemorySegment createSrq;
  private final MemorySegment destroySrq;
  private final MemorySegment createQp;
  private final MemorySegment modifyQp;
  private final MemorySegment destroyQp;

  ResourceCalls(Ibverbs.Symbols symbols) {
    allocPd = symbols.find("ibv_alloc_pd");
    deallocPd = symbols.find("ibv_dealloc_pd");
    regMr = symbols.find("ibv_reg_mr");
    deregMr = symbols.find("ibv_dereg_mr");
    createChannel = symbols.find("ibv_create_comp_channel");
    destroyChannel = symbols.find("ibv_destroy_comp_channel");
    createCq = symbols.find("ibv_create_cq");
    destroyCq = symbols.find("ibv_destroy_cq");
    getCqEvent = symbols.find("ibv_get_cq_event");
    ackCqEvents = symbols.find("ibv_ack_cq_events");
    createSrq = symbols.find("ibv_create_srq");
    destroySrq = symbols.find("ibv_destroy_srq");
    createQp = symbols.find("ibv_create_qp");
    modifyQp = symbols.find("ibv_modify_qp");
    destroyQp = symbols.find("ibv_destroy_qp");
  }

  /// Allocates a protection domain.
  public long allocatePd(long context) {
    return make(allocPd, context);
  }

  /// Deallocates a protection domain.
  public int deallocatePd(long pd) {
    return end(deallocPd, pd);
  }

  /// Registers memory for these kinds of access.
  public long register(long pd, MemorySegment memory, int access) {
    return NativeCall.pointer(
        (state, arena) ->
            (long) REG_MR.invokeExact(regMr, state, pd, memory, memory.byteSize(), access));
  }

  /// Ends a registration.
  public int deregister(long mr) {
    return end(deregMr, mr);
  }

  /// Creates a completion channel.
  public long createChannel(long context) {
    return make(createChannel, context);
  }

  /// Destroys a completion channel.
  public int destroyChannel(long channel) {
    return end(destroyChannel, channel);
  }

  /// Creates a completion queue for at least `entries`, whose events go to the channel.
  public long createCq(long context, int entries, long channel) {
    return NativeCall.pointer(
        (state, arena) ->
            (long) CREATE_CQ.invokeExact(createCq, state, context, entries, 0L, channel, 0));
  }

  /// Destroys a completion queue; waits until all its events are acknowledged.
  public int destroyCq(long cq) {
    return end(destroyCq, cq);
  }

  /// Receives the next event of a channel with a non-blocking descriptor; returns the address of
  /// its queue, or `-EAGAIN` if none is pending.
  public long takeEvent(long channel) {
    return NativeCall.number(
        (state, arena) -> {
          MemorySegment cq = arena.allocate(JAVA_LONG);
          MemorySegment context = arena.allocate(JAVA_LONG);
          int taken = (int) GET_CQ_EVENT.invokeExact(getCqEvent, state, channel, cq, context);
          return taken == 0 ? cq.get(JAVA_LONG, 0) : -1;
        });
  }

  /// Acknowledges events of a queue.
  public void acknowledge(long cq, int events) {
    long unused =
        NativeCall.run(
            () -> {
              ACK_CQ_EVENTS.invokeExact(ackCqEvents, cq, events);
              return 0;
            });
  }

  /// Creates a shared receive queue with a `Structs.SRQ_INIT_ATTR`, in which the device stores the
  /// actual values.
  public long createSrq(long pd, MemorySegment init) {
    return NativeCall.pointer(
        (state, arena) -> (long) MAKE_FROM.invokeExact(createSrq, state, pd, init));
  }

  /// Destroys a shared receive queue, which no queue pair uses.
  public int destroySrq(long srq) {
    return end(destroySrq, srq);
  }

  /// Creates a queue pair with a `Structs.QP_INIT_ATTR`, in which the device stores the actual
  /// values.
  public long createQp(long pd, MemorySegment init) {
    return NativeCall.pointer(
        (state, arena) -> (long) MAKE_FROM.invokeExact(createQp, state, pd, init));
  }

  /// Changes the fields of a `Structs.QP_ATTR` that the mask selects.
  public int modifyQp(long qp, MemorySegment attr, int mask) {
    return NativeCall.status(() -> (int) MODIFY_QP.invokeExact(modifyQp, qp, attr, mask));
  }

  /// Destroys a queue pair.
  public int destroyQp(long qp) {
    return end(destroyQp, qp);
  }

  /// Returns the structure at an address that one of these calls returned.
  public static MemorySegment struct(long address, MemoryLayout layout) {
    return NativeCall.struct(address, layout);
  }

  /// Returns the bytes of `memory` without its scope; a reference to them does not keep the memory
  /// alive.
  public static MemorySegment withoutScope(MemorySegment memory) {
    return NativeCall.bytes(memory.address(), memory.byteSize());
  }

  private static long make(MemorySegment function, long of) {
    return NativeCall.pointer(
        (state, arena) -> (long) MAKE_OF_ONE.invokeExact(function, state, of));
  }

  private static int end(MemorySegment function, long what) {
    return NativeCall.status(() -> (int) END.invokeExact(function, what));
  }
}
