// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The status of a completed work request, in the order of `enum ibv_wc_status`, with a
/// description.
public enum WorkStatus {
  /// IBV_WC_SUCCESS.
  SUCCESS("it succeeded"),
  /// IBV_WC_LOC_LEN_ERR.
  LOCAL_LENGTH("a buffer is shorter than the data, or a message is too long for the port"),
  /// IBV_WC_LOC_QP_OP_ERR.
  LOCAL_QUEUE_PAIR("this side's queue pair found an inconsistent work request"),
  /// IBV_WC_LOC_EEC_OP_ERR.
  LOCAL_CONTEXT("this side's end-to-end context is inconsistent"),
  /// IBV_WC_LOC_PROT_ERR.
  LOCAL_PROTECTION("memory of this side is not registered for the posted operation"),
  /// IBV_WC_WR_FLUSH_ERR.
  FLUSHED("the queue pair had failed before; the first error says why"),
  /// IBV_WC_MW_BIND_ERR.
  WINDOW_BIND("a memory window could not be bound"),
  /// IBV_WC_BAD_RESP_ERR.
  BAD_RESPONSE("the peer's device sent an unexpected response"),
  /// IBV_WC_LOC_ACCESS_ERR.
  LOCAL_ACCESS("a peer's write hit memory of this side that may not be written"),
  /// IBV_WC_REM_INV_REQ_ERR.
  REMOTE_INVALID_REQUEST("the peer's device rejected the request, for example as too long"),
  /// IBV_WC_REM_ACCESS_ERR.
  REMOTE_ACCESS("the peer's memory may not be accessed with this key: it is closed or too short"),
  /// IBV_WC_REM_OP_ERR.
  REMOTE_OPERATION("the peer's device could not carry out the request"),
  /// IBV_WC_RETRY_EXC_ERR.
  RETRIES_EXHAUSTED(
      "the peer's device did not answer and all retries are used up: the peer is gone, the network"
          + " is interrupted, or addresses or MTU do not fit"),
  /// IBV_WC_RNR_RETRY_EXC_ERR.
  RECEIVER_NOT_READY("the peer had no receive posted, and all retries are used up"),
  /// IBV_WC_LOC_RDD_VIOL_ERR.
  LOCAL_DOMAIN("the reliable datagram domains do not fit"),
  /// IBV_WC_REM_INV_RD_REQ_ERR.
  REMOTE_INVALID_DATAGRAM("the peer's device refused a reliable datagram"),
  /// IBV_WC_REM_ABORT_ERR.
  REMOTE_ABORTED("the peer aborted the operation"),
  /// IBV_WC_INV_EECN_ERR.
  INVALID_CONTEXT_NUMBER("there is no such end-to-end context"),
  /// IBV_WC_INV_EEC_STATE_ERR.
  INVALID_CONTEXT_STATE("the end-to-end context is in a state that forbids it"),
  /// IBV_WC_FATAL_ERR.
  FATAL("the device failed"),
  /// IBV_WC_RESP_TIMEOUT_ERR.
  RESPONSE_TIMEOUT("no response in time"),
  /// IBV_WC_GENERAL_ERR.
  GENERAL("the device reports an unspecified error"),
  /// IBV_WC_TM_ERR.
  TAG_MATCHING("tag matching failed"),
  /// IBV_WC_TM_RNDV_INCOMPLETE.
  TAG_MATCHING_INCOMPLETE("tag matching left a rendezvous incomplete"),
  /// A number that this version does not know.
  UNKNOWN("a status that this version does not know");

  private static final WorkStatus[] ALL = values();

  private final String meaning;

  WorkStatus(String meaning) {
    this.meaning = meaning;
  }

  /// Returns the status with this number.
  public static WorkStatus of(int number) {
    return number >= 0 && number < ALL.length - 1 ? ALL[number] : UNKNOWN;
  }

  /// Returns the description, for a message.
  public String meaning() {
    return meaning;
  }

  /// Returns text such as `remote access (status 10, vendor 0x88): the peer's memory may not be …`.
  public String words(int number, int vendorError) {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ')
        + " (status "
        + number
        + ", vendor 0x"
        + Integer.toHexString(vendorError)
        + "): "
        + meaning;
  }
}
