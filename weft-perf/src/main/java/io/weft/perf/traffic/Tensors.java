// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.MethodDescriptor;
import io.weft.perf.grpc.Bytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The two methods of a parameter server: one fetches a tensor for a worker's step, the other
/// delivers its gradient. As under Weft, the first and the last four bytes of a tensor encode its
/// number, worker and step.
final class Tensors {

  static final String SERVICE = "weft.Tensors";

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

  private Tensors() {}

  /// The subject of a call.
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
      byte[] message = message(KEY_BYTES + bytes);
      fill(message, KEY_BYTES);
      return message;
    }

    /// Returns the tensor of this key.
    byte[] tensor(int bytes) {
      byte[] tensor = new byte[bytes];
      fill(tensor, 0);
      return tensor;
    }

    private void fill(byte[] into, int from) {
      INT.set(into, from, content());
      INT.set(into, into.length - Integer.BYTES, content());
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
}
