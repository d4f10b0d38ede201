// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import java.util.List;

/// One operation of a service, as far as it concerns an observer, who must not keep it: it holds
/// tensors.
public interface ObservedOperation {

  /// Which service it belongs to.
  Service service();

  /// Tells it from all other operations of this service on this rank; the same in all its events.
  long id();

  /// Key of its communicator, the same on all members; 0 for a service without communicators.
  long communicator();

  /// Name of its tensor.
  String name();

  /// Kind, type, shape, reduction, root, algorithm, as far as it has them.
  String words();

  /// How often the name was used on the communicator before. Known once it has started.
  int sequence();

  /// Length of this rank's tensor; 0 while it is not known.
  long bytes();

  /// When the user submitted it, by the progress thread's clock; 0 for a service without
  /// communicators where nobody watched then.
  long submittedNanos();

  /// Rank that this one heard of last for this operation, by a message or a write: whom it has
  /// waited for, once it is over. -1 where it heard of none.
  int lastHeard();

  /// Ranks that it still waits for. Allocates.
  List<Integer> awaited();

  /// Ranks that have answered a probe and had not submitted it then. Allocates.
  List<Integer> unsubmitted();

  /// What runs operations.
  enum Service {
    /// Collectives of a communicator.
    COLLECTIVE,
    /// Receives and published tensors of a rendezvous.
    RENDEZVOUS,
    /// Requests of this rank on the request channel.
    CHANNEL
  }
}
