// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/// Waits on descriptors of a device, and on a bell that any thread may ring. `await` and `close`
/// belong to one thread.
public final class Descriptors implements AutoCloseable {

  private static final short POLLIN = 1;
  private static final int POLLFD_BYTES = 8;
  private static final long REVENTS = 6;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int EFD_CLOEXEC_NONBLOCK = 0x80000 | O_NONBLOCK;
  private static final long MILLI = 1_000_000;

  // int fcntl(int fd, int cmd, ... /* int arg */);
  private static final MethodHandle FCNTL =
      NativeCall.withErrno(
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  // int eventfd(unsigned int initval, int flags);
  private static final MethodHandle EVENTFD =
      NativeCall.withErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  // ssize_t read(int fd, void *buf, size_t count);
  // ssize_t write(int fd, const void *buf, size_t count);
  private static final MethodHandle TRANSFER =
      NativeCall.plain(FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  // int close(int fd);
  private static final MethodHandle CLOSE =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  // int poll(struct pollfd *fds, nfds_t nfds, int timeout);
  private static final MethodHandle POLL =
      NativeCall.plain(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

  private final MemorySegment read = NativeCall.libc("read");
  private final MemorySegment write = NativeCall.libc("write");
  private final MemorySegment close = NativeCall.libc("close");
  private final MemorySegment poll = NativeCall.libc("poll");
  private final Arena arena = Arena.ofShared();
  private final MemorySegment one = arena.allocate(JAVA_LONG);
  private final MemorySegment heard = arena.allocate(JAVA_LONG);
  private final MemorySegment watched;
  private final int count;
  private final int bell;
  private final AtomicBoolean rung = new AtomicBoolean();
  private boolean closed;

  /// Watches these descriptors, which the caller continues to own, and a bell. Throws
  /// `IllegalStateException` if the process has too many open files.
  public Descriptors(int... descriptors) {
    count = descriptors.length + 1;
    bell =
        (int)
            NativeCall.number(
                (state, scratch) ->
                    (int)
                        EVENTFD.invokeExact(
                            NativeCall.libc("eventfd"), state, 0, EFD_CLOEXEC_NONBLOCK));
    if (bell < 0) {
      arena.close();
      throw new IllegalStateException(
          "cannot create a descriptor to wait on: "
              + Errno.words(-bell)
              + "; raise the limit of open files");
    }
    one.set(JAVA_LONG, 0, 1);
    watched = arena.allocate((long) POLLFD_BYTES * count, Integer.BYTES);
    for (int i = 0; i < count; i++) {
      watched.set(JAVA_INT, (long) POLLFD_BYTES * i, i == 0 ? bell : descriptors[i - 1]);
      watched.set(JAVA_SHORT, (long) POLLFD_BYTES * i + Integer.BYTES, POLLIN);
    }
  }

  /// Makes a descriptor non-blocking.
  public static int unblock(int descriptor) {
    MemorySegment fcntl = NativeCall.libc("fcntl");
    long flags =
        NativeCall.number(
            (state, scratch) -> (int) FCNTL.invokeExact(fcntl, state, descriptor, F_GETFL, 0));
    if (flags < 0) {
      return (int) flags;
    }
    return (int)
        NativeCall.number(
            (state, scratch) ->
                (int)
                    FCNTL.invokeExact(fcntl, state, descriptor, F_SETFL, (int) flags | O_NONBLOCK));
  }

  /// Waits until a descriptor is readable or the bell rings, for at most `maxNanos`, rounded up to
  /// at least one millisecond.
  public void await(long maxNanos) {
    int millis = Math.clamp((maxNanos + MILLI - 1) / MILLI, 1, Integer.MAX_VALUE);
    long unused = NativeCall.run(() -> (int) POLL.invokeExact(poll, watched, (long) count, millis));
    if (watched.get(JAVA_SHORT, REVENTS) != 0) {
      unused =
          NativeCall.run(() -> (long) TRANSFER.invokeExact(read, bell, heard, (long) Long.BYTES));
      // A ring between these two lines ends this wait, which has already ended.
      rung.set(false);
    }
  }

  /// Ends the current or the next `await`. Thread-safe.
  public synchronized void ring() {
    if (!closed && !rung.getAndSet(true)) {
      long unused =
          NativeCall.run(() -> (long) TRANSFER.invokeExact(write, bell, one, (long) Long.BYTES));
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      long unused = NativeCall.run(() -> (int) CLOSE.invokeExact(close, bell));
      arena.close();
    }
  }
}
