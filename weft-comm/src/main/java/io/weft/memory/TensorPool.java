// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.MemoryRegion;
import io.weft.transport.Transport;
import io.weft.transport.pool.BufferPool;
import io.weft.transport.pool.SliceLease;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A pool of tensors in memory that the transport has registered, so that peers on the same host
/// can operate on them in place. Small tensors are parts of blocks that stay until `close`. A large
/// tensor has a separate block, and idle blocks are kept for later tensors of about this size. A
/// tensor may outlive the pool: its memory is freed when it is returned. Any thread; a lock guards
/// a few array accesses, and only a new block takes longer.
public final class TensorPool implements AutoCloseable {

  /// Alignment of every tensor in bytes: a page.
  public static final int ALIGNMENT = 4096;

  /// The size above which a tensor has a separate block.
  static final long LARGE_BYTES = 4 << 20;

  private final Transport transport;
  private final BufferPool small;
  private final IdleBlocks idle;
  private int out;
  private boolean closed;

  /// Creates a pool of this transport's memory.
  ///
  /// @param keepBytes maximum memory of returned large tensors to keep
  public TensorPool(Transport transport, long keepBytes) {
    Objects.requireNonNull(transport, "transport");
    this.transport = transport;
    this.small = BufferPool.of(transport, Long.MAX_VALUE / 2);
    this.idle = new IdleBlocks(keepBytes);
  }

  /// Allocates a tensor with undefined contents. `close` returns it; its view must not be used
  /// afterwards, because the memory may belong to another tensor. Throws `IllegalStateException`
  /// after `close`, `IllegalArgumentException` if its size in bytes exceeds 2^63-1, and
  /// `TransportException.Registration` if the system refuses the memory.
  public TensorLease allocate(DType dtype, Shape shape) {
    long bytes = TensorView.bytes(dtype, shape);
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException(
            dtype + "" + shape + " cannot be allocated, because this process has left the job");
      }
      Lease lease = bytes > LARGE_BYTES ? large(dtype, shape, bytes) : lease(dtype, shape, bytes);
      out++;
      return lease;
    }
  }

  private Lease lease(DType dtype, Shape shape, long bytes) {
    SliceLease piece = small.tryLease(bytes).orElseThrow();
    MemorySegment whole = piece.slice().region().segment();
    MemorySegment data = whole.asSlice(piece.slice().offset(), bytes);
    return new Lease(this, new TensorView(dtype, shape, data), piece, null);
  }

  private Lease large(DType dtype, Shape shape, long bytes) {
    long size = IdleBlocks.size(bytes);
    MemoryRegion block = idle.take(size);
    if (block == null) {
      block = transport.allocate(size);
    }
    MemorySegment data = block.segment().asSlice(0, bytes);
    return new Lease(this, new TensorView(dtype, shape, data), null, block);
  }

  private synchronized void giveBack(Lease lease) {
    if (lease.returned) {
      return;
    }
    lease.returned = true;
    out--;
    if (lease.piece != null) {
      lease.piece.close();
    }
    if (lease.block != null) {
      idle.give(lease.block);
    }
    freeIfOver();
  }

  private void freeIfOver() {
    if (closed) {
      idle.close();
      if (out == 0) {
        small.close();
      }
    }
  }

  /// Frees the unused memory. The rest is freed with its tensors. A second call has no effect.
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      freeIfOver();
    }
  }

  /// A tensor of one owner: a part of a block, or a whole block.
  private static final class Lease implements TensorLease {

    private final TensorPool pool;
    private final TensorView view;
    private final @Nullable SliceLease piece;
    private final @Nullable MemoryRegion block;
    private boolean returned;

    Lease(
        TensorPool pool,
        TensorView view,
        @Nullable SliceLease piece,
        @Nullable MemoryRegion block) {
      this.pool = pool;
      this.view = view;
      this.piece = piece;
      this.block = block;
    }

    @Override
    public TensorView view() {
      return view;
    }

    @Override
    public void close() {
      pool.giveBack(this);
    }

    @Override
    public String toString() {
      return view.signature();
    }
  }
}
