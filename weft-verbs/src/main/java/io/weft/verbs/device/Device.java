// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.weft.verbs.ffm.DataPath;
import io.weft.verbs.ffm.Descriptors;
import io.weft.verbs.ffm.DeviceCalls;
import io.weft.verbs.ffm.Errno;
import io.weft.verbs.ffm.Ibverbs;
import io.weft.verbs.ffm.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An open RDMA device, which owns all its resources: closing it closes them. Thread-safe.
public final class Device extends Owned {

  private final Ibverbs library;
  private final String name;
  private final long address;
  private final MemorySegment context;
  private final DataPath dataPath;
  private final DeviceLimits limits;

  private Device(Ibverbs library, String name, long address) {
    this.library = library;
    this.name = name;
    this.address = address;
    context = DeviceCalls.context(address);
    ResourceCheck.context(library.file(), context, DeviceCalls.beforeContext(address));
    if (!DeviceCalls.nameOf(context).equals(name)) {
      throw new VerbsException(
          library.file()
              + " has a layout of struct ibv_device that this version of Weft does not know;"
              + " use --transport tcp");
    }
    dataPath = new DataPath(context);
    if (!dataPath.isComplete()) {
      throw new VerbsException("the driver of " + name + " offers no data path to programs");
    }
    VerbsException.check(
        Descriptors.unblock(context.get(JAVA_INT, Structs.offset(Structs.CONTEXT, "async_fd"))),
        "make the events of " + name + " non-blocking");
    limits = limits(library, name, address);
  }

  /// Returns the names of all devices; empty if the kernel has no RDMA. Throws `VerbsException`.
  public static List<String> names(Ibverbs library) {
    DeviceCalls.Names found = library.devices().names();
    return found.names();
  }

  /// Opens the device with this name. Throws `VerbsException` if it does not exist, if access is
  /// denied, or if the layout of the library's structures is unknown.
  public static Device open(Ibverbs library, String name) {
    long address = library.devices().open(name);
    if (address < 0) {
      int errno = (int) -address;
      throw new VerbsException(
          "open RDMA device " + name,
          errno,
          switch (errno) {
            case Errno.ENODEV -> "there are " + names(library);
            case Errno.EACCES, Errno.EPERM ->
                "this user may not use /dev/infiniband/uverbs*; add it to the group that owns them";
            default -> "";
          });
    }
    try {
      return new Device(library, name, address);
    } catch (RuntimeException e) {
      var unused = library.devices().close(address);
      throw e;
    }
  }

  private static DeviceLimits limits(Ibverbs library, String name, long address) {
    try (Arena arena = Arena.ofConfined()) {
      // This is longer than any version of the structure.
      MemorySegment attr = arena.allocate(2 * Structs.DEVICE_ATTR.byteSize(), Long.BYTES);
      VerbsException.check(library.devices().queryDevice(address, attr), "query device " + name);
      return new DeviceLimits(
          number(attr, "max_qp"),
          number(attr, "max_qp_wr"),
          number(attr, "max_cqe"),
          number(attr, "max_srq"),
          number(attr, "max_srq_wr"),
          // The field is unsigned; some drivers report an unlimited size as the largest number.
          attr.get(JAVA_LONG, Structs.offset(Structs.DEVICE_ATTR, "max_mr_size")) & Long.MAX_VALUE,
          number(attr, "max_qp_rd_atom"),
          Byte.toUnsignedInt(
              attr.get(JAVA_BYTE, Structs.offset(Structs.DEVICE_ATTR, "phys_port_cnt"))));
    }
  }

  private static int number(MemorySegment attr, String field) {
    return attr.get(JAVA_INT, Structs.offset(Structs.DEVICE_ATTR, field));
  }

  /// Returns the name, such as `mlx5_0`.
  public String name() {
    return name;
  }

  /// Returns the limits of the device.
  public DeviceLimits limits() {
    return limits;
  }

  /// Queries the current state of a port. Throws `VerbsException`.
  public Port port(int number) {
    return whileOpen(() -> query(number));
  }

  private Port query(int number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = arena.allocate(2 * Structs.PORT_ATTR.byteSize(), Long.BYTES);
      VerbsException.check(
          library.devices().queryPort(address, number, attr),
          "query port " + number + " of " + name);
      return new Port(
          number,
          attr.get(JAVA_INT, port("state")),
          attr.get(JAVA_INT, port("active_mtu")),
          attr.get(JAVA_INT, port("gid_tbl_len")),
          Integer.toUnsignedLong(attr.get(JAVA_INT, port("max_msg_sz"))),
          Short.toUnsignedInt(attr.get(JAVA_SHORT, port("lid"))),
          Byte.toUnsignedInt(attr.get(JAVA_BYTE, port("link_layer"))));
    }
  }

  private static long port(String field) {
    return Structs.offset(Structs.PORT_ATTR, field);
  }

  /// Returns the addresses of a port, without empty entries.
  public List<Gid> gids(Port port) {
    return whileOpen(() -> query(port));
  }

  private List<Gid> query(Port port) {
    List<Gid> gids = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entry = arena.allocate(Structs.GID_ENTRY);
      for (int i = 0; i < port.gids(); i++) {
        if (library.devices().queryGid(address, port.number(), i, entry) == 0) {
          gids.add(
              Gid.of(
                  i,
                  entry.asSlice(0, Gid.BYTES).toArray(JAVA_BYTE),
                  entry.get(JAVA_INT, Structs.offset(Structs.GID_ENTRY, "gid_type"))));
        }
      }
    }
    return gids;
  }

  /// Returns the next asynchronous event of the device; null if none is pending. Never waits.
  public @Nullable AsyncEvent takeEvent() {
    return this.<@Nullable AsyncEvent>whileOpen(this::event);
  }

  private @Nullable AsyncEvent event() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(Structs.ASYNC_EVENT);
      return library.devices().takeEvent(address, event) < 0
          ? null
          : AsyncEvent.of(
              event.get(JAVA_INT, Structs.offset(Structs.ASYNC_EVENT, "event_type")),
              event.get(JAVA_LONG, Structs.offset(Structs.ASYNC_EVENT, "element")));
    }
  }

  /// Returns the descriptor that becomes readable when `takeEvent` has an event.
  public int eventDescriptor() {
    return context.get(JAVA_INT, Structs.offset(Structs.CONTEXT, "async_fd"));
  }

  /// Creates a protection domain, which this device owns.
  public ProtectionDomain protectionDomain() {
    return whileOpen(() -> ProtectionDomain.allocate(this));
  }

  /// Creates a completion channel, which this device owns.
  public CompletionChannel completionChannel() {
    return whileOpen(() -> CompletionChannel.create(this));
  }

  Ibverbs library() {
    return library;
  }

  DataPath dataPath() {
    return dataPath;
  }

  long address() {
    return address;
  }

  @Override
  void release() {
    VerbsException.check(library.devices().close(address), "close " + this);
  }

  @Override
  public String toString() {
    return "RDMA device " + name;
  }
}
