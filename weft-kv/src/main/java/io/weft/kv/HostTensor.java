// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A host's view of a tensor: the sum of its workers' gradients and, on the leader, the connection
/// to the servers. One thread. Owns its memory.
final class HostTensor implements AutoCloseable {

  private final long elements;
  private final TensorLease sum;
  private final @Nullable KvTensor servers;
  private final @Nullable CompressedPushes compressed;
  private Optional<Handle<Void>> pushed = Optional.empty();

  /// @param servers null if another worker of the host communicates with the servers
  HostTensor(Weft weft, long elements, String compression, @Nullable KvTensor servers) {
    this.elements = elements;
    this.servers = servers;
    this.sum = weft.allocate(DType.FLOAT32, Shape.of(elements));
    this.compressed =
        servers == null || PushCompression.parse(compression).isNone()
            ? null
            : servers.compressed(compression);
  }

  /// Throws `IllegalArgumentException` for a tensor of another type or length.
  void check(String name, TensorView view) {
    if (view.dtype() != DType.FLOAT32 || view.shape().elements() != elements) {
      throw new IllegalArgumentException(
          "tensor '%s': %s, expected %d elements of FLOAT32"
              .formatted(name, view.signature(), elements));
    }
  }

  /// Returns the buffer of the host's sum, after the previous push has released it. If that push
  /// has failed, this aborts the host's communicator, because its other workers would wait for this
  /// one.
  TensorView sum(Communicator host) throws InterruptedException {
    if (pushed.isPresent()) {
      Handle<Void> before = pushed.get();
      pushed = Optional.empty();
      try {
        var unused = before.await();
      } catch (CommException failed) {
        host.abort(failed);
        throw failed;
      }
    }
    return sum.view();
  }

  /// Sends the sum to the servers, if this worker is the leader.
  void push() throws InterruptedException {
    if (servers == null) {
      return;
    }
    MemorySegment values = sum.view().data();
    pushed = Optional.of(compressed == null ? servers.push(values, 0) : compressed.push(values, 0));
  }

  /// Begins to pull, if this worker is the leader.
  Optional<Handle<Void>> pull(TensorView into) throws InterruptedException {
    return servers == null ? Optional.empty() : Optional.of(servers.pull(into, 0));
  }

  /// Frees the memory as soon as no push reads it.
  @Override
  public void close() {
    if (pushed.isPresent()) {
      pushed.get().whenDone((nothing, cause) -> release());
    } else {
      release();
    }
  }

  private void release() {
    sum.close();
    if (compressed != null) {
      compressed.close();
    }
  }
}
