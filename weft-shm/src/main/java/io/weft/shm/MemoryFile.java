// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.shm.ffm.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// A file that exists only in memory while a process has it open or mapped. When all processes have
/// ended, even abnormally, nothing of it remains. Peers of the same user open it by process and
/// descriptor; its name confirms that it is the right file.
final class MemoryFile {

  private final int descriptor;
  private final MemorySegment memory;

  private MemoryFile(int descriptor, MemorySegment memory) {
    this.descriptor = descriptor;
    this.memory = memory;
  }

  /// Creates a file of zeros, mapped until `arena` is closed. Throws `IOException` with the reason.
  static MemoryFile create(String name, long bytes, Arena arena) throws IOException {
    int descriptor = Libc.memoryFile(name, bytes);
    if (descriptor < 0) {
      throw new IOException("memfd_create: " + reason(descriptor));
    }
    try {
      return new MemoryFile(descriptor, map(descriptor, bytes, arena));
    } catch (IOException e) {
      var unused = Libc.close(descriptor);
      throw e;
    }
  }

  /// Opens a peer's file and returns its memory, mapped until `arena` is closed. Throws
  /// `IOException` with the reason, also if it is another file.
  static MemorySegment open(long process, int descriptor, String name, long bytes, Arena arena)
      throws IOException {
    Path path = Path.of("/proc/" + process + "/fd/" + descriptor);
    // The name is checked before opening, because opening another kind of file may block.
    checkName(path, name);
    int opened = Libc.open(path.toString());
    if (opened < 0) {
      throw new IOException("open " + path + ": " + reason(opened));
    }
    try {
      checkName(Path.of("/proc/self/fd/" + opened), name);
      if (!Libc.isSealed(opened) || Libc.bytes(opened) != bytes) {
        throw new IOException(path + " does not have the fixed length of " + bytes + " bytes");
      }
      return map(opened, bytes, arena);
    } finally {
      var unused = Libc.close(opened);
    }
  }

  private static void checkName(Path path, String name) throws IOException {
    String target;
    try {
      target = Files.readSymbolicLink(path).toString();
    } catch (AccessDeniedException e) {
      throw new IOException(
          path + " is not permitted; both processes must run as one user to share memory", e);
    } catch (NoSuchFileException e) {
      throw new IOException(path + " does not exist", e);
    }
    if (!target.equals("/memfd:" + name + " (deleted)")) {
      throw new IOException(path + " is " + target + ", not " + name);
    }
  }

  private static MemorySegment map(int descriptor, long bytes, Arena arena) throws IOException {
    long address = Libc.map(descriptor, bytes);
    if (address < 0 && address > -ControlLayout.PAGE) {
      throw new IOException("mmap of " + bytes + " bytes: " + reason(address));
    }
    return Libc.memory(address, bytes, arena);
  }

  static String reason(long negativeErrno) {
    return switch ((int) -negativeErrno) {
      case 1, 13 -> "not permitted";
      case 2 -> "no such file";
      case Libc.ENOMEM, 28 -> "not enough memory";
      case Libc.EFBIG -> "the file exceeds the length limit; raise 'ulimit -f'";
      case 23, Libc.EMFILE -> "too many open files; raise 'ulimit -n'";
      default -> "errno " + -negativeErrno;
    };
  }

  int descriptor() {
    return descriptor;
  }

  MemorySegment memory() {
    return memory;
  }

  /// Prevents further opening of the file; mappings remain.
  void closeDescriptor() {
    var unused = Libc.close(descriptor);
  }
}
