// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// An asynchronous event of a device.
///
/// @param kind meaning of the event
/// @param number of the event in `enum ibv_event_type`
/// @param element address of the queue or queue pair, or number of the port
public record AsyncEvent(DeviceEventKind kind, int number, long element) {

  /// The meaning of an event.
  public enum DeviceEventKind {
    /// A queue pair is in the error state.
    QUEUE_PAIR_FAILED,
    /// A completion queue has overflowed; all its queue pairs are lost.
    COMPLETION_QUEUE_FAILED,
    /// The shared receive queue has failed; all its queue pairs are lost.
    RECEIVE_QUEUE_FAILED,
    /// The device is lost.
    DEVICE_FAILED,
    /// The port is not active.
    PORT_DOWN,
    /// The port is active again.
    PORT_ACTIVE,
    /// The port's addresses have changed.
    PORT_CHANGED,
    /// The event requires no action.
    NOTICE
  }

  static AsyncEvent of(int number, long element) {
    DeviceEventKind kind =
        switch (number) {
          case 0 -> DeviceEventKind.COMPLETION_QUEUE_FAILED;
          case 1, 2, 3, 7 -> DeviceEventKind.QUEUE_PAIR_FAILED;
          case 8 -> DeviceEventKind.DEVICE_FAILED;
          case 9 -> DeviceEventKind.PORT_ACTIVE;
          case 10 -> DeviceEventKind.PORT_DOWN;
          case 14 -> DeviceEventKind.RECEIVE_QUEUE_FAILED;
          case 11, 12, 18 -> DeviceEventKind.PORT_CHANGED;
          default -> DeviceEventKind.NOTICE;
        };
    // The number of a port is an int in the union.
    boolean port =
        switch (kind) {
          case PORT_DOWN, PORT_ACTIVE, PORT_CHANGED -> true;
          case QUEUE_PAIR_FAILED,
              COMPLETION_QUEUE_FAILED,
              RECEIVE_QUEUE_FAILED,
              DEVICE_FAILED,
              NOTICE ->
              false;
        };
    return new AsyncEvent(kind, number, port ? (int) element : element);
  }

  /// Returns a description for a message.
  public String words() {
    return switch (kind) {
      case QUEUE_PAIR_FAILED ->
          switch (number) {
            case 2 -> "the device found an invalid request in the queue pair (QP_REQ_ERR)";
            case 3 -> "a peer's access violated the memory's rights (QP_ACCESS_ERR)";
            case 7 -> "the queue pair could not migrate its path (PATH_MIG_ERR)";
            default -> "the queue pair failed in the device (QP_FATAL)";
          };
      case COMPLETION_QUEUE_FAILED -> "a completion queue has overflowed (CQ_ERR)";
      case RECEIVE_QUEUE_FAILED -> "the shared receive queue failed (SRQ_ERR)";
      case DEVICE_FAILED -> "the device failed (DEVICE_FATAL)";
      case PORT_DOWN -> "port " + element + " is down (PORT_ERR)";
      case PORT_ACTIVE -> "port " + element + " is active (PORT_ACTIVE)";
      case PORT_CHANGED -> "the addresses of port " + element + " have changed";
      case NOTICE -> "event " + number;
    };
  }
}
