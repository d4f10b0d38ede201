// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.MeshService;
import io.weft.cluster.channel.MeshChannel;
import io.weft.cluster.elastic.Membership;
import io.weft.collective.service.Collectives;
import io.weft.rendezvous.service.MeshRendezvous;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// The assignment of a rank's services to its progress threads. In text, `+` joins the services of
/// one thread and commas separate threads. It must be equal on all ranks, because threads with the
/// same number are connected with each other.
///
/// @param threads the names of the services of each thread, in the order of the threads; each
///   service appears once
public record ServiceThreads(List<List<String>> threads) {

  /// The collectives and the agreement of survivors on the next epoch.
  public static final String COLLECTIVES = "collectives";

  /// The exchange of tensors by edge and step.
  public static final String RENDEZVOUS = "rendezvous";

  /// The requests and replies.
  public static final String CHANNEL = "channel";

  private static final List<String> SERVICES = List.of(COLLECTIVES, RENDEZVOUS, CHANNEL);

  /// Copies the lists.
  public ServiceThreads {
    threads = threads.stream().map(List::copyOf).toList();
  }

  /// Parses the text. A service that the text does not name runs on the first thread. Throws
  /// `IllegalArgumentException` with the expected syntax.
  static ServiceThreads parse(String text) {
    List<List<String>> threads = new ArrayList<>();
    Set<String> named = new HashSet<>();
    for (String thread : text.split(",", -1)) {
      List<String> services = new ArrayList<>();
      for (String part : thread.split("\\+", -1)) {
        String service = part.strip();
        if (!SERVICES.contains(service) || !named.add(service)) {
          throw new IllegalArgumentException(
              "must name services of "
                  + String.join(", ", SERVICES)
                  + ", each at most once, joined by + where they share a thread and separated by"
                  + " commas where they do not");
        }
        services.add(service);
      }
      threads.add(services);
    }
    SERVICES.stream().filter(service -> !named.contains(service)).forEach(threads.getFirst()::add);
    return new ServiceThreads(threads);
  }

  /// Returns the text that `parse` accepts.
  @Override
  public String toString() {
    return threads.stream()
        .map(services -> String.join("+", services))
        .collect(Collectors.joining(","));
  }

  static List<MeshService> services(
      List<String> names,
      Collectives collectives,
      Membership membership,
      MeshRendezvous rendezvous,
      MeshChannel channel) {
    List<MeshService> services = new ArrayList<>();
    for (String name : names) {
      switch (name) {
        case COLLECTIVES -> services.addAll(List.of(collectives, membership));
        case RENDEZVOUS -> services.add(rendezvous);
        case CHANNEL -> services.add(channel);
        default -> throw new IllegalArgumentException("unknown service " + name);
      }
    }
    return services;
  }
}
