// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;
import java.util.Map;

/// An open device. It is confined to its polling thread, except that any thread may call `address`,
/// `capabilities`, `allocate`, `register`, `isForeign`, `wake`, `bytesSent` and `counters`.
public interface Transport extends AutoCloseable {

  /// Returns the address at which peers reach this transport; the caller distributes it out of
  /// band.
  Address address();

  /// Returns the capabilities of this device.
  Capabilities capabilities();

  /// Starts connecting to `peer`, which must prove that it is node `node`. The call never blocks.
  /// The endpoint answers `BACK_PRESSURED` until `FrameSink.onConnect` is called; a failure is
  /// reported to `FrameSink.onFailure`.
  Endpoint connect(Address peer, int node);

  /// Allocates zeroed, page-aligned, registered memory that the region owns. Throws
  /// `TransportException.Registration`.
  MemoryRegion allocate(long bytes);

  /// Registers foreign native memory in place. `owner` is kept reachable until close, and its
  /// memory must outlive the region. Throws `TransportException.Registration`.
  MemoryRegion register(MemorySegment segment, Object owner);

  /// Returns whether peers could read and write this native memory directly only if it were part of
  /// memory that `allocate` returned, which it is not. A transfer then costs a copy at either end,
  /// so that a caller that owns memory of `allocate` copies the bytes there once. Returns false if
  /// the transport knows no difference, or the length is not worth a copy.
  default boolean isForeign(MemorySegment segment) {
    return false;
  }

  /// Returns the number of threads that poll for this transport: the caller of `poll`, and threads
  /// of its own. Callers do not spin where the ranks of a host have more of them than processors.
  default int pollingThreads() {
    return 1;
  }

  /// Runs one duty cycle and returns the amount of work done (0 = idle). Never blocks. The
  /// transport measures timeouts only by `nowNanos`, so that a simulator controls time.
  int poll(long nowNanos);

  /// Passes operations posted since the last `poll` to the network as far as it has room, and
  /// receives nothing; `poll` begins with the same step. Callers use it before a pause in polling.
  /// Completions of writes may fire inside. It does nothing if posting sends at once. Polling
  /// thread only.
  default void flush() {}

  /// Waits until `poll` may find work, `wake` is called or `maxNanos` have passed. It may return
  /// early. Polling thread only.
  void await(long maxNanos);

  /// Ends the current or the next `await` early. Thread-safe.
  void wake();

  /// Returns the reason why this device could not open or accept a connection, such as a limit of
  /// the system; empty if there is none. Polling thread only.
  default String trouble() {
    return "";
  }

  /// Returns the total bytes sent, payload and protocol. Thread-safe.
  long bytesSent();

  /// Returns further counters since the device was opened, by name; empty if the device has none.
  /// docs/protocol/verbs.md lists the names of `verbs`. Thread-safe.
  default Map<String, Long> counters() {
    return Map.of();
  }

  /// Closes all endpoints and drops data that it cannot send at once. Regions remain valid for
  /// their owners until the owners close them, but no peer can reach them. A second call has no
  /// effect.
  @Override
  void close();
}
