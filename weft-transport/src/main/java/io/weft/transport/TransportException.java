// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import io.weft.text.Printable;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A failure of a transport. Each subtype states the resources that remain usable. Messages are on
/// one printable line, even if they contain foreign names.
public abstract sealed class TransportException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TransportException(String message, @Nullable Throwable cause) {
    super(Printable.of(message), cause);
  }

  /// Memory could not be registered; all other resources remain usable. The message names the
  /// bytes, the limit and the cause.
  public static final class Registration extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception; the message must name the bytes and the limit.
    public Registration(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// The peer refused one operation (stale key, out of bounds); the endpoint remains usable.
  public static final class Refused extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception; the message must name the operation, the region and the peer.
    public Refused(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// An endpoint is lost with all its posted work; other endpoints remain usable. The caller may
  /// connect again.
  public static final class EndpointLost extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception; the message must name the peer.
    public EndpointLost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /// The device is lost with all its endpoints. The caller must open another transport.
  public static final class DeviceLost extends TransportException {
    @Serial private static final long serialVersionUID = 1L;

    /// Creates the exception; the message must name the device.
    public DeviceLost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }
}
