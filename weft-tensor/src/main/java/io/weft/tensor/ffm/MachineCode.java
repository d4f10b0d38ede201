// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Collectors;

/// Instructions of this processor as a function that Java can call, for what the JVM's compiler has
/// no instruction for. The pages that hold them are written first and made executable then, never
/// both at once, and stay until the process ends.
public final class MachineCode {

  private static final long PAGE_BYTES = 4096;
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int PROT_EXEC = 4;
  private static final int MAP_PRIVATE_ANONYMOUS = 2 | 0x20;
  private static final long MAP_FAILED = -1;

  /// Of a listing: the instruction's bytes, before its words.
  private static final int CODE_COLUMNS = 20;

  private static final Linker LINKER = Linker.nativeLinker();

  private MachineCode() {}

  /// Whether listings for x86-64 and the System V calling convention fit this system.
  static boolean isKnownHere() {
    return System.getProperty("os.name").equals("Linux")
        && System.getProperty("os.arch").equals("amd64");
  }

  /// The function of a listing; empty as `function` of bytes is.
  ///
  /// @param listing an instruction in each line, its bytes first, in hexadecimal digits
  static Optional<MethodHandle> function(String listing, FunctionDescriptor type) {
    String code =
        listing
            .lines()
            .map(line -> line.substring(0, CODE_COLUMNS).replace(" ", ""))
            .collect(Collectors.joining());
    return function(HexFormat.of().parseHex(code), type);
  }

  /// The function whose instructions these are, by the C calling convention of this system. Empty
  /// where this Java was not allowed native access, or where the system lets no program make code
  /// of its own, as a policy of SELinux may say.
  ///
  /// @param instructions at most a page
  @SuppressWarnings("restricted")
  public static Optional<MethodHandle> function(byte[] instructions, FunctionDescriptor type) {
    if (!MachineCode.class.getModule().isNativeAccessEnabled()) {
      return Optional.empty();
    }
    // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
    MethodHandle mmap =
        bind(
            "mmap",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    // int mprotect(void *addr, size_t len, int prot);
    MethodHandle mprotect =
        bind("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    try {
      long page =
          (long)
              mmap.invokeExact(
                  0L, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
      if (page == MAP_FAILED) {
        return Optional.empty();
      }
      MemorySegment code = MemorySegment.ofAddress(page).reinterpret(PAGE_BYTES);
      MemorySegment.copy(instructions, 0, code, JAVA_BYTE, 0, instructions.length);
      int refused = (int) mprotect.invokeExact(page, PAGE_BYTES, PROT_READ | PROT_EXEC);
      return refused == 0 ? Optional.of(LINKER.downcallHandle(code, type)) : Optional.empty();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a call of the C library threw", e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle bind(String name, FunctionDescriptor type) {
    MemorySegment function =
        LINKER
            .defaultLookup()
            .find(name)
            .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
    return LINKER.downcallHandle(function, type);
  }
}
