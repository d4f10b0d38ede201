// SPDX-License-Identifier: Apache-2.0
package io.weft.shm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// Calls of the C library for memory files. A call that can fail returns a negative `errno`.
/// Loading this class throws a `LinkageError` if the C library lacks a function. Thread-safe.
public final class Libc {

  /// Not enough memory.
  public static final int ENOMEM = 12;

  /// Too many open files in this process.
  public static final int EMFILE = 24;

  /// The file exceeds the length limit of this process.
  public static final int EFBIG = 27;

  private static final int EINVAL = 22;
  private static final int MFD_CLOEXEC = 1;
  private static final int MFD_ALLOW_SEALING = 2;
  private static final int F_ADD_SEALS = 1033;
  private static final int F_GET_SEALS = 1034;
  private static final int SEAL_SHRINK_AND_GROW = 2 | 4;
  private static final int O_RDWR_CLOEXEC = 2 | 0x80000;
  private static final int SEEK_END = 2;
  private static final int PROT_READ_WRITE = 1 | 2;
  private static final int MAP_SHARED = 1;
  private static final int MADV_REMOVE = 9;
  private static final int MADV_POPULATE_WRITE = 23;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  // int memfd_create(const char *name, unsigned int flags);
  private static final MethodHandle MEMFD_CREATE =
      bind("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  // int ftruncate(int fd, off_t length);
  private static final MethodHandle FTRUNCATE =
      bind("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  // int fallocate(int fd, int mode, off_t offset, off_t len);
  private static final MethodHandle FALLOCATE =
      bind("fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  // int fcntl(int fd, int cmd, ... /* int arg */);
  private static final MethodHandle FCNTL =
      bind(
          "fcntl",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  // int open(const char *path, int flags, ... /* mode_t mode */);
  private static final MethodHandle OPEN =
      bind(
          "open",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  // off_t lseek(int fd, off_t offset, int whence);
  private static final MethodHandle LSEEK =
      bind("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
  // int close(int fd);
  private static final MethodHandle CLOSE =
      bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
  private static final MethodHandle MMAP =
      bind(
          "mmap",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
  // int munmap(void *addr, size_t length);
  private static final MethodHandle MUNMAP =
      bind("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  // int madvise(void *addr, size_t length, int advice);
  private static final MethodHandle MADVISE =
      bind("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

  private Libc() {}

  @SuppressWarnings("restricted")
  private static MethodHandle bind(
      String name, FunctionDescriptor type, Linker.Option... variadic) {
    Linker.Option[] options = new Linker.Option[variadic.length + 1];
    options[0] = Linker.Option.captureCallState("errno");
    System.arraycopy(variadic, 0, options, 1, variadic.length);
    MemorySegment function =
        LINKER
            .defaultLookup()
            .find(name)
            .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
    return LINKER.downcallHandle(function, type, options);
  }

  /// A call that returns -1 and sets `errno`.
  private interface Call {
    long run(MemorySegment state, Arena arena) throws Throwable;
  }

  private static long call(Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = call.run(state, arena);
      return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a call of the C library threw", e);
    }
  }

  /// Creates a file of `bytes` zero bytes in memory with a sealed length; returns its descriptor.
  public static int memoryFile(String name, long bytes) {
    int fd =
        (int)
            call(
                (state, arena) ->
                    (int)
                        MEMFD_CREATE.invokeExact(
                            state, arena.allocateFrom(name), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0) {
      return fd;
    }
    long sized = call((state, arena) -> (int) FTRUNCATE.invokeExact(state, fd, bytes));
    if (sized >= 0) {
      sized =
          call(
              (state, arena) ->
                  (int) FCNTL.invokeExact(state, fd, F_ADD_SEALS, SEAL_SHRINK_AND_GROW));
    }
    if (sized < 0) {
      var unused = close(fd);
      return (int) sized;
    }
    return fd;
  }

  /// Opens a file for reading and writing; returns its descriptor.
  public static int open(String path) {
    return (int)
        call(
            (state, arena) ->
                (int) OPEN.invokeExact(state, arena.allocateFrom(path), O_RDWR_CLOEXEC, 0));
  }

  /// Returns whether the file can neither shrink nor grow, so that accesses to its memory cannot
  /// fault.
  public static boolean isSealed(int fd) {
    long seals = call((state, arena) -> (int) FCNTL.invokeExact(state, fd, F_GET_SEALS, 0));
    return seals >= 0 && (seals & SEAL_SHRINK_AND_GROW) == SEAL_SHRINK_AND_GROW;
  }

  /// Returns the length of an open file.
  public static long bytes(int fd) {
    return call((state, arena) -> (long) LSEEK.invokeExact(state, fd, 0L, SEEK_END));
  }

  /// Closes a descriptor.
  public static int close(int fd) {
    return (int) call((state, arena) -> (int) CLOSE.invokeExact(state, fd));
  }

  /// Maps `bytes` of the file as shared memory; returns the address.
  public static long map(int fd, long bytes) {
    return call(
        (state, arena) ->
            (long) MMAP.invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_SHARED, fd, 0L));
  }

  /// Returns the mapped memory as a segment; closing `arena` unmaps it.
  @SuppressWarnings("restricted")
  public static MemorySegment memory(long address, long bytes, Arena arena) {
    return MemorySegment.ofAddress(address)
        .reinterpret(bytes, arena, gone -> unmap(gone.address(), bytes));
  }

  private static void unmap(long address, long bytes) {
    long unused = call((state, arena) -> (int) MUNMAP.invokeExact(state, address, bytes));
  }

  /// Makes the kernel allocate memory for all of a mapped file, so that no later access can fail.
  public static int populate(int fd, long address, long bytes) {
    int done =
        (int)
            call(
                (state, arena) ->
                    (int) MADVISE.invokeExact(state, address, bytes, MADV_POPULATE_WRITE));
    if (done == -EINVAL) {
      // The kernel is older than Linux 5.14.
      done = (int) call((state, arena) -> (int) FALLOCATE.invokeExact(state, fd, 0, 0L, bytes));
    }
    return done;
  }

  /// Returns the memory of a part of a shared mapping to the system, for all processes that map it.
  /// The part then reads as zeros.
  public static int discard(long address, long bytes) {
    return (int)
        call((state, arena) -> (int) MADVISE.invokeExact(state, address, bytes, MADV_REMOVE));
  }
}
