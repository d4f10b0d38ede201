// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ffm;

/// Error numbers of Linux and their descriptions.
public final class Errno {

  /// Operation not permitted.
  public static final int EPERM = 1;

  /// Try again.
  public static final int EAGAIN = 11;

  /// Not enough memory, or pinned memory exceeds `RLIMIT_MEMLOCK`.
  public static final int ENOMEM = 12;

  /// Permission denied.
  public static final int EACCES = 13;

  /// In use.
  public static final int EBUSY = 16;

  /// No such device.
  public static final int ENODEV = 19;

  /// Invalid argument.
  public static final int EINVAL = 22;

  private static final int EINTR = 4;
  private static final int EIO = 5;
  private static final int EMFILE = 24;
  private static final int ENOSYS = 38;
  private static final int EPROTONOSUPPORT = 93;
  private static final int EOPNOTSUPP = 95;
  private static final int ENETUNREACH = 101;
  private static final int ETIMEDOUT = 110;
  private static final int EHOSTUNREACH = 113;

  private Errno() {}

  /// Returns text such as `errno 12 (ENOMEM, not enough memory)`.
  public static String words(int errno) {
    String meaning =
        switch (errno) {
          case EPERM -> "EPERM, not permitted";
          case EINTR -> "EINTR, interrupted";
          case EIO -> "EIO, the device reports an error";
          case EAGAIN -> "EAGAIN, no data or no room now";
          case ENOMEM -> "ENOMEM, not enough memory or more than may be locked";
          case EACCES -> "EACCES, no permission";
          case EBUSY -> "EBUSY, still in use";
          case ENODEV -> "ENODEV, no such device";
          case EINVAL -> "EINVAL, the device does not accept these values";
          case EMFILE -> "EMFILE, too many open files";
          case ENOSYS -> "ENOSYS, the kernel has no RDMA modules";
          case EPROTONOSUPPORT -> "EPROTONOSUPPORT, not supported by this device";
          case EOPNOTSUPP -> "EOPNOTSUPP, not supported by this device";
          case ENETUNREACH -> "ENETUNREACH, no route to the peer's network";
          case ETIMEDOUT -> "ETIMEDOUT, no answer in time";
          case EHOSTUNREACH -> "EHOSTUNREACH, no route to the peer";
          default -> "";
        };
    return meaning.isEmpty() ? "errno " + errno : "errno " + errno + " (" + meaning + ")";
  }
}
