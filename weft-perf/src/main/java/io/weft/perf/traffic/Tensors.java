// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.MethodDescriptor;
import io.weft.perf.grpc.Bytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// The two methods of a parameter server: one fetches a tensor for a worker's step, the other
/// brings its gradient. As under Weft, a tensor has its number, worker and step in its first and
/// its last four bytes.
final class Tensors {

  static final String SERVICE = "weft.Tensors";

  /// A key there, a tensor back.
  static final MethodDescriptor<byte[], byte[]> FETCH = Bytes.method(SERVICE, "Fetch");

  /// A key and a tensor there, nothing back.
  static final MethodDescriptor<byte[], byte[]> BRING = Bytes.method(SERVICE, "Bring");

  /// In front of a step there is none.
  static final int NONE = -1;

  private static final int KEY_BYTES = 4 * Integer.BYTES;
  private static final int FACTOR = 31;
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

  private Tensors() {}

  /// What a call is about.
  ///
  /// @param step of the worker
  /// @param before the worker's step whose gradients must be there, or `NONE`
  record TensorKey(int worker, int tensor, int step, int before) {

    /// Of a request. Throws `IllegalArgumentException` if it is too short.
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

    /// The key alone.
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

    /// The key, and a tensor of so many bytes behind it.
    byte[] messageWith(int bytes) {
      byte[] message = message(KEY_BYTES + bytes);
      fill(message, KEY_BYTES);
      return message;
    }

    /// Its tensor.
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

    /// Whether `messageWith` made the request.
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
