// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.MethodDescriptor;
import io.weft.perf.grpc.Bytes;
import io.weft.perf.grpc.CallServer;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// A parameter server of the peer `grpc`. It provides a worker's next tensors when all gradients of
/// the worker have arrived. Calls run on the event loop.
public final class TensorServer {
  private static final String SERVICE = "weft.Tensors";

  /// Takes a key and returns a tensor.
  static final MethodDescriptor<byte[], byte[]> FETCH = Bytes.method(SERVICE, "Fetch");

  /// Takes a key and a tensor and returns nothing.
  static final MethodDescriptor<byte[], byte[]> BRING = Bytes.method(SERVICE, "Bring");

  /// The value of `before` in a first step.
  static final int NONE = -1;

  private static final int KEY_BYTES = 4 * Integer.BYTES;
  private static final int FACTOR = 31;
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

  private final int tensors;
  private final int bytes;
  private final Map<Integer, Worker> workers = new ConcurrentHashMap<>();

  private TensorServer(int tensors, int bytes) {
    this.tensors = tensors;
    this.bytes = bytes;
  }

  /// Serves until standard input is closed.
  ///
  /// @param arguments number of tensors and size of each in bytes
  public static void main(String[] arguments) throws IOException, InterruptedException {
    TensorServer server =
        new TensorServer(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    CallServer.exit(SERVICE, Map.of(FETCH, server::fetch, BRING, server::bring));
  }

  private void fetch(byte[] request, Consumer<byte[]> answer) {
    TensorKey key = TensorKey.of(request);
    worker(key).when(key.before(), () -> answer.accept(key.tensor(bytes)));
  }

  private void bring(byte[] request, Consumer<byte[]> answer) {
    TensorKey key = TensorKey.of(request);
    if (!key.hasTensor(request, bytes)) {
      throw new IllegalArgumentException("a gradient does not match its key");
    }
    worker(key).brought(key.step());
    answer.accept(new byte[0]);
  }

  private Worker worker(TensorKey key) {
    return workers.computeIfAbsent(key.worker(), fresh -> new Worker(tensors));
  }

  /// The subject of a call. As under Weft, the first and the last four bytes of a tensor encode its
  /// number, worker and step.
  ///
  /// @param step the worker's step
  /// @param before the worker's step whose gradients must have arrived, or `NONE`
  record TensorKey(int worker, int tensor, int step, int before) {

    /// Reads the key of a request. Throws `IllegalArgumentException` for a short request.
    static TensorKey of(byte[] request) {
      if (request.length < KEY_BYTES) {
        throw new IllegalArgumentException("a request of " + request.length + " bytes");
      }
      return new TensorKey(
          (int) INT.get(request, 0),
          (int) INT.get(request, Integer.BYTES),
          (int) INT.get(request, 2 * Integer.BYTES),
          (int) INT.get(request, 3 * Integer.BYTES));
    }

    /// Returns a request with only the key.
    byte[] message() {
      return message(KEY_BYTES);
    }

    private byte[] message(int bytes) {
      byte[] message = new byte[bytes];
      INT.set(message, 0, worker);
      INT.set(message, Integer.BYTES, tensor);
      INT.set(message, 2 * Integer.BYTES, step);
      INT.set(message, 3 * Integer.BYTES, before);
      return message;
    }

    /// Returns a request with the key and a tensor of `bytes` bytes.
    byte[] messageWith(int bytes) {
      return filled(message(KEY_BYTES + bytes), KEY_BYTES);
    }

    /// Returns the tensor of this key.
    byte[] tensor(int bytes) {
      return filled(new byte[bytes], 0);
    }

    private byte[] filled(byte[] into, int from) {
      INT.set(into, from, content());
      INT.set(into, into.length - Integer.BYTES, content());
      return into;
    }

    boolean isTensor(byte[] answer, int bytes) {
      return is(answer, 0, bytes);
    }

    /// Returns whether `request` equals the result of `messageWith`.
    boolean hasTensor(byte[] request, int bytes) {
      return is(request, KEY_BYTES, bytes);
    }

    private boolean is(byte[] all, int from, int bytes) {
      return all.length == from + bytes
          && (int) INT.get(all, from) == content()
          && (int) INT.get(all, all.length - Integer.BYTES) == content();
    }

    private int content() {
      return ((tensor * FACTOR + worker) * FACTOR + step) & Integer.MAX_VALUE;
    }
  }

  /// The state of a worker's gradients.
  private static final class Worker {
    private final int tensors;
    private final List<Runnable> early = new ArrayList<>();
    private int step = NONE;
    private int here;
    private int complete = NONE;

    Worker(int tensors) {
      this.tensors = tensors;
    }

    synchronized void brought(int ofStep) {
      here = ofStep == step ? here + 1 : 1;
      step = ofStep;
      if (here == tensors) {
        complete = ofStep;
        early.forEach(Runnable::run);
        early.clear();
      }
    }

    /// Runs `then` when the gradients of step `before` have arrived.
    synchronized void when(int before, Runnable then) {
      if (before == NONE || before == complete) {
        then.run();
      } else {
        early.add(then);
      }
    }
  }
}
