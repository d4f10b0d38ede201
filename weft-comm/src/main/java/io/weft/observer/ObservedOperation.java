// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import java.util.List;

/// One operation of a service, with the facts for an observer. The observer must not keep it,
/// because it references tensors.
public interface ObservedOperation {

  /// The service of the operation.
  Service service();

  /// The id of the operation, unique among those of this service on this rank and equal in all its
  /// events.
  long id();

  /// Key of its communicator, equal on all members; 0 for a service without communicators.
  default long communicator() {
    return 0;
  }

  /// Name of its tensor.
  String name();

  /// Kind, type, shape, reduction, root and algorithm, as far as the operation has them.
  String words();

  /// Number of earlier uses of the name on the communicator; 0 for a service without communicators
  /// and steps. Known once the operation has started.
  default int sequence() {
    return 0;
  }

  /// Length of this rank's tensor in bytes; 0 while unknown.
  long bytes();

  /// Time of the submission, by the progress thread's clock; 0 for a service without communicators
  /// if no observer was present then.
  long submittedNanos();

  /// The rank from which this one last received a message or a write for this operation. After the
  /// operation has ended, it is the rank for which the operation waited last. -1 = none.
  default int lastHeard() {
    return -1;
  }

  /// The ranks for which it still waits, as far as the service knows them. Allocates.
  default List<Integer> awaited() {
    return List.of();
  }

  /// The ranks that answered a probe and had not submitted the operation by then. Allocates.
  default List<Integer> unsubmitted() {
    return List.of();
  }

  /// Name of the table of a parameter server that the operation concerns; empty if there is none.
  default String table() {
    return "";
  }

  /// Number of the table's rows that the operation concerns; 0 if there are none.
  default long rows() {
    return 0;
  }

  /// A service that runs operations.
  enum Service {
    /// The collectives of a communicator.
    COLLECTIVE,
    /// The receives and published tensors of a rendezvous.
    RENDEZVOUS,
    /// The requests of this rank on the request channel.
    CHANNEL,
    /// The operations of this rank, as a worker of a parameter server, on its tables.
    KV_WORKER,
    /// The operations of this rank, as a parameter server, for workers and for other servers.
    KV_SERVER
  }
}
