// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Futex;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;

/// The provider of shared memory between processes of one host and one user, with TCP between all
/// others. Stateless and thread-safe.
public final class ShmProvider implements TransportProvider {

  static final String SCHEME = "shm";

  private static final String INSTEAD = ", or use --transport tcp";

  /// Creates the provider for `ServiceLoader`.
  public ShmProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public Availability probe() {
    try {
      if (!System.getProperty("os.name").equals("Linux") || !Futex.isKnownHere()) {
        return new Availability.Unavailable(
            "shared memory needs Linux on x86-64 or aarch64, this is "
                + System.getProperty("os.name")
                + " on "
                + System.getProperty("os.arch"),
            "use --transport tcp");
      }
      var unused = ProcessDomain.here();
      tryMemory();
      return new Availability.Available(List.of(ShmTransport.CAPABILITIES));
    } catch (IOException e) {
      return new Availability.Unavailable(
          "memory cannot be shared here: " + e.getMessage(),
          "mount /proc and allow memfd_create in this container" + INSTEAD);
    } catch (LinkageError e) {
      // The first use of a native function is in a class that is being initialised.
      if (e.getCause() instanceof IllegalCallerException refused) {
        return new Availability.Unavailable(
            "this JVM may not call native functions: " + refused.getMessage(),
            "start it with --enable-native-access=io.weft.shm (ALL-UNNAMED on a class path)"
                + INSTEAD);
      }
      return new Availability.Unavailable(
          "the C library lacks what shared memory needs: " + e.getMessage(),
          "use a Linux with glibc 2.27 or newer" + INSTEAD);
    }
  }

  /// Creates a file with the length of a control file and opens it as a peer would.
  private static void tryMemory() throws IOException {
    String name = "weft-probe";
    try (Arena arena = Arena.ofShared()) {
      MemoryFile file = MemoryFile.create(name, ControlLayout.CONTROL_BYTES, arena);
      try {
        long self = ProcessHandle.current().pid();
        var unused =
            MemoryFile.open(self, file.descriptor(), name, ControlLayout.CONTROL_BYTES, arena);
        Futex.wake(file.memory(), 0);
      } finally {
        file.closeDescriptor();
      }
    }
  }

  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    try {
      return open(config, sink, ProcessDomain.here());
    } catch (IOException e) {
      throw lost(e);
    }
  }

  /// Opens a transport as if this process were on that host.
  static Transport open(TransportConfig config, FrameSink sink, ProcessDomain host) {
    TransportProvider tcp =
        TransportProvider.find("tcp")
            .orElseThrow(
                () ->
                    new TransportException.DeviceLost(
                        "shared memory needs the TCP transport, which is not on the class path;"
                            + " add weft-transport",
                        null));
    try {
      return new ShmTransport(tcp, config, sink, host);
    } catch (IOException e) {
      throw lost(e);
    }
  }

  private static TransportException lost(IOException e) {
    return new TransportException.DeviceLost(
        "cannot open shared memory: " + e.getMessage() + INSTEAD, e);
  }
}
