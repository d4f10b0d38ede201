// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The loaded library `libibverbs.so.1`. It is never unloaded, because drivers that it loads keep
/// threads and state. Immutable and thread-safe.
public final class Ibverbs {

  static final String NAME = "libibverbs.so.1";

  private static final String INSTEAD = ", or use --transport tcp";
  private static final String INSTALL =
      "install rdma-core (Debian: libibverbs1 and ibverbs-providers)" + INSTEAD;

  private final DeviceCalls devices;
  private final ResourceCalls resources;
  private final String file;

  private Ibverbs(DeviceCalls devices, ResourceCalls resources, String file) {
    this.devices = devices;
    this.resources = resources;
    this.file = file;
  }

  /// The result of loading the library.
  public sealed interface Loading {

    /// The library is loaded.
    record Loaded(Ibverbs library) implements Loading {}

    /// The library cannot be used, with a reason that an operator can act on.
    ///
    /// @param reason the missing requirement
    /// @param remedy how to provide it
    record Missing(String reason, String remedy) implements Loading {}
  }

  /// Loads the library; another call costs a look-up of its functions. Never throws.
  public static Loading load() {
    return load(NAME);
  }

  /// Loads a library of another name.
  @SuppressWarnings("restricted")
  static Loading load(String name) {
    if (!isKnownHere()) {
      return new Loading.Missing(
          "RDMA needs Linux on a 64-bit little-endian processor, this is "
              + System.getProperty("os.name")
              + " on "
              + System.getProperty("os.arch"),
          "use --transport tcp");
    }
    SymbolLookup symbols;
    try {
      symbols = SymbolLookup.libraryLookup(name, Arena.global());
    } catch (IllegalCallerException e) {
      return new Loading.Missing(
          "this JVM may not call native functions: " + e.getMessage(),
          "start it with --enable-native-access=io.weft.verbs (ALL-UNNAMED on a class path)"
              + INSTEAD);
    } catch (IllegalArgumentException e) {
      return new Loading.Missing("there is no " + name + " on this machine", INSTALL);
    }
    try {
      Symbols named = new Symbols(symbols, name);
      return new Loading.Loaded(
          new Ibverbs(new DeviceCalls(named), new ResourceCalls(named), fileOf(name)));
    } catch (LinkageError e) {
      return new Loading.Missing(
          fileOf(name) + " is too old or a different library: " + e.getMessage(),
          "install rdma-core 29 or newer" + INSTEAD);
    }
  }

  /// Returns whether `Structs` apply to this platform.
  private static boolean isKnownHere() {
    return System.getProperty("os.name").equals("Linux")
        && ValueLayout.ADDRESS.byteSize() == Long.BYTES
        && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
  }

  /// Returns the path of the loaded file, whose name includes the version; only the library's name
  /// if the path is unknown.
  private static String fileOf(String name) {
    String stem = name.substring(0, Math.max(name.indexOf(".so"), 0));
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> !stem.isEmpty() && line.contains("/" + stem + ".so"))
          .map(line -> line.substring(line.indexOf('/')))
          .findFirst()
          .orElse(name);
    } catch (IOException e) {
      return name;
    }
  }

  /// Returns the calls for devices and their events.
  public DeviceCalls devices() {
    return devices;
  }

  /// Returns the calls that create and destroy resources of a device.
  public ResourceCalls resources() {
    return resources;
  }

  /// Returns the loaded file, such as `/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0`.
  public String file() {
    return file;
  }

  /// Looks up functions by name.
  ///
  /// @param all functions of the library
  /// @param library its name
  record Symbols(SymbolLookup all, String library) {
    /// Throws `UnsatisfiedLinkError`.
    MemorySegment find(String name) {
      return all.find(name)
          .orElseThrow(() -> new UnsatisfiedLinkError(library + " has no " + name));
    }
  }
}
