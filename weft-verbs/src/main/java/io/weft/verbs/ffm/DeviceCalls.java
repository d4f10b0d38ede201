// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/// Calls that list, open and query devices, and receive their events.
public final class DeviceCalls {

  // struct ibv_device **ibv_get_device_list(int *num_devices);
  private static final MethodHandle GET_DEVICE_LIST =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_LONG, ADDRESS));
  // void ibv_free_device_list(struct ibv_device **list);
  private static final MethodHandle FREE_DEVICE_LIST =
      NativeCall.plain(FunctionDescriptor.ofVoid(JAVA_LONG));
  // const char *ibv_get_device_name(struct ibv_device *device);
  private static final MethodHandle GET_DEVICE_NAME =
      NativeCall.plain(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  // struct ibv_context *ibv_open_device(struct ibv_device *device);
  private static final MethodHandle OPEN_DEVICE =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  // int ibv_close_device(struct ibv_context *context);
  private static final MethodHandle CLOSE_DEVICE =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  // int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr);
  private static final MethodHandle QUERY_DEVICE =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS));
  // int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);
  private static final MethodHandle QUERY_PORT =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BYTE, ADDRESS));
  // int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
  //     struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
  private static final MethodHandle QUERY_GID_EX =
      NativeCall.plain(
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG));
  // int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
  private static final MethodHandle GET_ASYNC_EVENT =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS));
  // void ibv_ack_async_event(struct ibv_async_event *event);
  private static final MethodHandle ACK_ASYNC_EVENT =
      NativeCall.plain(FunctionDescriptor.ofVoid(ADDRESS));

  private final MemorySegment getDeviceList;
  private final MemorySegment freeDeviceList;
  private final MemorySegment getDeviceName;
  private final MemorySegment openDevice;
  private final MemorySegment closeDevice;
  private final MemorySegment queryDevice;
  private final MemorySegment queryPort;
  private final MemorySegment queryGidEx;
  private final MemorySegment getAsyncEvent;
  private final MemorySegment ackAsyncEvent;

  DeviceCalls(Ibverbs.Symbols symbols) {
    getDeviceList = symbols.find("ibv_get_device_list");
    freeDeviceList = symbols.find("ibv_free_device_list");
    getDeviceName = symbols.find("ibv_get_device_name");
    openDevice = symbols.find("ibv_open_device");
    closeDevice = symbols.find("ibv_close_device");
    queryDevice = symbols.find("ibv_query_device");
    queryPort = symbols.find("ibv_query_port");
    queryGidEx = symbols.find("_ibv_query_gid_ex");
    getAsyncEvent = symbols.find("ibv_get_async_event");
    ackAsyncEvent = symbols.find("ibv_ack_async_event");
  }

  /// The result of `ibv_get_device_list`.
  ///
  /// @param errno negative if it failed (38 `ENOSYS`: the kernel has no RDMA), else 0
  /// @param names of the devices
  public record Names(int errno, List<String> names) {
    /// Copies the list.
    public Names {
      names = List.copyOf(names);
    }
  }

  /// Returns the names of all devices that have a driver.
  public Names names() {
    List<String> names = new ArrayList<>();
    long done =
        withList(
            (list, count) -> {
              for (int i = 0; i < count; i++) {
                names.add(name(list.getAtIndex(JAVA_LONG, i)));
              }
              return 0;
            });
    return new Names((int) done, names);
  }

  /// Opens the device with this name; returns the address of its context, or `-ENODEV` if it does
  /// not exist.
  public long open(String name) {
    return withList(
        (list, count) -> {
          for (int i = 0; i < count; i++) {
            long device = list.getAtIndex(JAVA_LONG, i);
            if (name(device).equals(name)) {
              return NativeCall.pointer(
                  (state, arena) -> (long) OPEN_DEVICE.invokeExact(openDevice, state, device));
            }
          }
          return -Errno.ENODEV;
        });
  }

  private interface OnList {
    long look(MemorySegment list, int count) throws Throwable;
  }

  @SuppressWarnings("restricted")
  private long withList(OnList onList) {
    try (Arena outer = Arena.ofConfined()) {
      MemorySegment count = outer.allocate(JAVA_INT);
      long list =
          NativeCall.pointer(
              (state, arena) -> (long) GET_DEVICE_LIST.invokeExact(getDeviceList, state, count));
      if (list < 0) {
        return list;
      }
      int n = count.get(JAVA_INT, 0);
      MemorySegment devices =
          MemorySegment.ofAddress(list).reinterpret((long) Long.BYTES * (n + 1));
      try {
        return NativeCall.run(() -> onList.look(devices, n));
      } finally {
        long unused =
            NativeCall.run(
                () -> {
                  FREE_DEVICE_LIST.invokeExact(freeDeviceList, list);
                  return 0;
                });
      }
    }
  }

  private String name(long device) {
    return NativeCall.text(
        NativeCall.run(() -> (long) GET_DEVICE_NAME.invokeExact(getDeviceName, device)));
  }

  /// Closes a context.
  public int close(long context) {
    return NativeCall.status(() -> (int) CLOSE_DEVICE.invokeExact(closeDevice, context));
  }

  /// Fills a `Structs.DEVICE_ATTR`.
  public int queryDevice(long context, MemorySegment attr) {
    return NativeCall.status(() -> (int) QUERY_DEVICE.invokeExact(queryDevice, context, attr));
  }

  /// Fills a `Structs.PORT_ATTR`.
  public int queryPort(long context, int port, MemorySegment attr) {
    return NativeCall.status(
        () -> (int) QUERY_PORT.invokeExact(queryPort, context, (byte) port, attr));
  }

  /// Fills a `Structs.GID_ENTRY`; returns a negative value for an empty entry.
  public int queryGid(long context, int port, int index, MemorySegment entry) {
    long bytes = entry.byteSize();
    return NativeCall.status(
        () -> (int) QUERY_GID_EX.invokeExact(queryGidEx, context, port, index, entry, 0, bytes));
  }

  /// Receives the next event of a device with a non-blocking descriptor; `-EAGAIN` if none is
  /// pending.
  public int takeEvent(long context, MemorySegment event) {
    int taken =
        (int)
            NativeCall.number(
                (state, arena) ->
                    (int) GET_ASYNC_EVENT.invokeExact(getAsyncEvent, state, context, event));
    if (taken >= 0) {
      long unused =
          NativeCall.run(
              () -> {
                ACK_ASYNC_EVENT.invokeExact(ackAsyncEvent, event);
                return 0;
              });
    }
    return taken;
  }

  /// Returns the context at an address that `open` returned.
  public static MemorySegment context(long context) {
    return NativeCall.struct(context, Structs.CONTEXT);
  }

  /// Returns the part of a `verbs_context` before its context.
  public static MemorySegment beforeContext(long context) {
    return NativeCall.struct(
        context - Structs.VERBS_CONTEXT_END.byteSize(), Structs.VERBS_CONTEXT_END);
  }

  /// Returns the name in the device's structure, if `Structs.DEVICE` has the right layout.
  public static String nameOf(MemorySegment context) {
    MemorySegment device =
        NativeCall.struct(
            context.get(JAVA_LONG, Structs.offset(Structs.CONTEXT, "device")), Structs.DEVICE);
    byte[] name =
        device
            .asSlice(Structs.offset(Structs.DEVICE, "name"), Structs.bytes(Structs.DEVICE, "name"))
            .toArray(JAVA_BYTE);
    int length = 0;
    while (length < name.length && name[length] != 0) {
      length++;
    }
    return new String(name, 0, length, java.nio.charset.StandardCharsets.UTF_8);
  }
}
