// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;
import java.util.Map;

/// One opened device. Confined to the thread that polls it; only `address`, `capabilities`,
/// `allocate`, `register`, `wake`, `bytesSent` and `counters` may be called from any thread.
public interface Transport extends AutoCloseable {

  /// Where peers reach this transport; exchanged out of band.
  Address address();

  /// What this device can do.
  Capabilities capabilities();

  /// Starts connecting to `peer`, which must prove to be node `node`. Never blocks: the endpoint
  /// answers `BACK_PRESSURED` until `FrameSink.onConnect`; failure arrives at
  /// `FrameSink.onFailure`.
  Endpoint connect(Address peer, int node);

  /// Zeroed, page-aligned, registered memory owned by the region. Throws
  /// `TransportException.Registration`.
  MemoryRegion allocate(long bytes);

  /// Registers foreign native memory in place. `owner` is held until close; its memory must outlive
  /// the region. Throws `TransportException.Registration`.
  MemoryRegion register(MemorySegment segment, Object owner);

  /// Turns the crank once; returns the amount of work done (0 = idle). Never blocks. Timeouts
  /// inside the transport use `nowNanos` only, so a simulator owns time.
  int poll(long nowNanos);

  /// Gives the network what was posted since the last `poll`, as far as there is room, and takes
  /// nothing from it; `poll` begins with it. For who posts and then looks away. Completions of
  /// writes may fire inside. Nothing to do where posting sends at once. Polling thread.
  default void flush() {}

  /// Waits until `poll` may find work, `wake` is called or `maxNanos` have passed; may return
  /// early. Polling thread.
  void await(long maxNanos);

  /// Ends a present or the next `await` early. Any thread.
  void wake();

  /// What has hindered this device from taking connections, such as a limit of the system, in words
  /// for a message; empty where nothing has. Polling thread.
  default String trouble() {
    return "";
  }

  /// Bytes handed out so far: payload and protocol. Any thread.
  long bytesSent();

  /// What else this device has counted since it was opened, by name, for reports; empty where it
  /// counts nothing. The names of `verbs` are in docs/protocol/verbs.md. Any thread.
  default Map<String, Long> counters() {
    return Map.of();
  }

  /// Closes all endpoints; what is not flushed yet is dropped. Regions stay memory of their owners,
  /// whom no peer reaches any more, until they close them. A second call has no effect.
  @Override
  void close();
}
