// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plain;

import io.weft.comm.CommException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/// The time that the machine takes to move the same bytes without a parameter server: by a copy in
/// memory, and over a loopback socket until one byte confirms the arrival. Both are medians.
public final class PlainWay {

  private static final int TIMES = 51;

  private PlainWay() {}

  /// Returns the time of one copy. `from` is copied to a buffer and the buffer to `into`, in turn.
  public static long copyNanos(MemorySegment from, MemorySegment into) {
    long[] nanos = new long[TIMES];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment other = arena.allocate(from.byteSize(), 64);
      for (int i = 0; i < TIMES; i++) {
        MemorySegment source = i % 2 == 0 ? from : other;
        MemorySegment target = i % 2 == 0 ? other : into;
        long begin = System.nanoTime();
        MemorySegment.copy(source, 0, target, 0, from.byteSize());
        nanos[i] = System.nanoTime() - begin;
      }
    }
    Arrays.sort(nanos);
    return nanos[TIMES / 2];
  }

  /// Returns the time of sending all of `from` over a loopback socket.
  public static long loopbackNanos(MemorySegment from) throws InterruptedException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Thread taker =
          Thread.ofPlatform()
              .daemon()
              .name("weft-loopback")
              .start(() -> take(server, from.byteSize()));
      long[] nanos = new long[TIMES];
      try (SocketChannel channel = SocketChannel.open(server.getLocalAddress())) {
        ByteBuffer bytes = from.asByteBuffer();
        ByteBuffer end = ByteBuffer.allocateDirect(1);
        for (int i = 0; i < TIMES; i++) {
          long begin = System.nanoTime();
          for (ByteBuffer left = bytes.duplicate(); left.hasRemaining(); ) {
            int unused = channel.write(left);
          }
          if (channel.read(end.clear()) != 1) {
            throw new IOException("the peer closed the plain socket");
          }
          nanos[i] = System.nanoTime() - begin;
        }
      }
      taker.join();
      Arrays.sort(nanos);
      return nanos[TIMES / 2];
    } catch (IOException e) {
      throw new CommException.Setup("a plain socket on this host failed: " + e.getMessage(), e);
    }
  }

  private static void take(ServerSocketChannel server, long bytes) {
    try (SocketChannel channel = server.accept()) {
      ByteBuffer place = ByteBuffer.allocateDirect((int) Math.min(bytes, 1 << 20));
      ByteBuffer end = ByteBuffer.allocateDirect(1);
      for (int i = 0; i < TIMES; i++) {
        for (long left = bytes; left > 0; ) {
          place.clear().limit((int) Math.min(left, place.capacity()));
          int read = channel.read(place);
          if (read < 0) {
            return;
          }
          left -= read;
        }
        int unused = channel.write(end.clear());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
