// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import io.weft.text.Printable;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// What a transport can suffer, by blast radius. Each type says what remains usable. A message is
/// on one line that can be printed, whatever names others have chosen.
public abstract sealed class TransportException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TransportException(String message, @Nullable Throwable cause) {
    super(Printable.of(message), cause);
  }

  /// This memory was not registered; everything else works. The message carries the bytes, the
  /// limit and the cause.
  public static final class Registration extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that names bytes and limit.
    public Registration(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// This one operation was refused by the peer (stale key, out of bounds); the endpoint works on.
  public static final class Refused extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that names the operation, the region and the peer.
    public Refused(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// This endpoint is dead, with all its posted work; other endpoints work. Connect again to
  /// recover.
  public static final class EndpointLost extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that names the peer.
    public EndpointLost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// The device is gone, with all its endpoints. Open another transport.
  public static final class DeviceLost extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// With a message that names the device.
    public DeviceLost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
