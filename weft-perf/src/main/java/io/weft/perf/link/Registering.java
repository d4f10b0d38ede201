// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.link;

import io.weft.perf.rank.Tiles;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The cost of registering memory. Rank 0 registers memory, writes it into registered memory of
/// rank 1, and ends the registration after rank 1 has confirmed the arrival. The time is that of
/// beginning and ending the registration. The write is checked outside the timed part.
final class Registering implements Exercise {

  private static final long PAGE_BYTES = 4096;

  private final PeerLink link;
  private final Tiles tiles;
  private final WriteTarget receiveBuffer;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment program;
  private final boolean isOwn;

  /// @param isOwn true if the transport allocates the memory, false if the program does
  Registering(PeerLink link, Tiles tiles, long bytes, boolean isOwn) {
    this.link = link;
    this.tiles = tiles;
    this.isOwn = isOwn;
    program = arena.allocate(bytes, PAGE_BYTES);
    receiveBuffer = new WriteTarget(link, tiles, bytes);
  }

  private MemoryRegion register() {
    Transport transport = link.transport();
    return isOwn ? transport.allocate(program.byteSize()) : transport.register(program, arena);
  }

  @Override
  public long[] drive(long first, int iterations) {
    long[] nanos = new long[iterations];
    SlottedRegion region = receiveBuffer.region();
    for (int i = 0; i < iterations; i++) {
      long begin = System.nanoTime();
      MemoryRegion registered = register();
      nanos[i] = System.nanoTime() - begin;
      tiles.fill(registered.segment(), 1, first + i);
      link.await(Signal.READY);
      region.write(registered.slice(0, program.byteSize()));
      region.flush();
      link.await(Signal.ARRIVED);
      begin = System.nanoTime();
      registered.close();
      nanos[i] += System.nanoTime() - begin;
    }
    return nanos;
  }

  @Override
  public void answer(long first, int iterations) {
    for (int i = 0; i < iterations; i++) {
      link.say(Signal.READY);
      receiveBuffer.await();
      receiveBuffer.compare(first + i);
      link.say(Signal.ARRIVED);
    }
  }

  @Override
  public boolean isRight() {
    return receiveBuffer.isRight();
  }

  @Override
  public void close() {
    receiveBuffer.close();
    // A transport may keep memory registered whose scope has ended. It does not access it.
    arena.close();
  }
}
