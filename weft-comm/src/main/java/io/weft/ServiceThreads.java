// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.MeshService;
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
///   service appears once, except that several threads may run the channel, each with a lane
public record ServiceThreads(List<List<String>> threads) {

  /// The collectives and the agreement of survivors on the next epoch.
  public static final String COLLECTIVES = "collectives";

  /// The exchange of tensors by edge and step.
  public static final String RENDEZVOUS = "rendezvous";

  /// The requests and replies.
  public static final String CHANNEL = "channel";

  /// The maximum number of threads that run the channel.
  public static final int MOST_LANES = 16;

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
        boolean repeated = !named.add(service) && !isLane(service, services);
        if (!SERVICES.contains(service) || repeated) {
          throw new IllegalArgumentException(
              "must name services of "
                  + String.join(", ", SERVICES)
                  + ", each at most once, joined by + where they share a thread and separated by"
                  + " commas where they do not; up to "
                  + MOST_LANES
                  + " threads may name channel");
        }
        services.add(service);
      }
      threads.add(services);
    }
    SERVICES.stream().filter(service -> !named.contains(service)).forEach(threads.getFirst()::add);
    var parsed = new ServiceThreads(threads);
    if (parsed.lanes() > MOST_LANES) {
      throw new IllegalArgumentException(
          "names channel on " + parsed.lanes() + " threads; at most " + MOST_LANES);
    }
    return parsed;
  }

  private static boolean isLane(String service, List<String> sameThread) {
    return service.equals(CHANNEL) && !sameThread.contains(service);
  }

  /// Returns the assignment of all services to a first thread, and of `lanes` - 1 further lanes of
  /// the channel to one thread each. Throws `IllegalArgumentException` unless `lanes` is 1 to
  /// `MOST_LANES`.
  public static ServiceThreads ofLanes(int lanes) {
    if (lanes < 1 || lanes > MOST_LANES) {
      throw new IllegalArgumentException(lanes + " lanes; expected 1 to " + MOST_LANES);
    }
    List<List<String>> threads = new ArrayList<>();
    threads.add(new ArrayList<>(SERVICES));
    for (int lane = 1; lane < lanes; lane++) {
      threads.add(List.of(CHANNEL));
    }
    return new ServiceThreads(threads);
  }

  /// Returns the number of threads that run the channel.
  public int lanes() {
    return (int) threads.stream().filter(services -> services.contains(CHANNEL)).count();
  }

  /// Returns the text that `parse` accepts.
  @Override
  public String toString() {
    return threads.stream()
        .map(services -> String.join("+", services))
        .collect(Collectors.joining(","));
  }

  /// Returns the services of each thread.
  List<List<MeshService>> services(
      Collectives collectives, Membership membership, MeshRendezvous rendezvous, Lanes lanes) {
    List<List<MeshService>> all = new ArrayList<>();
    int lane = 0;
    for (List<String> names : threads) {
      List<MeshService> services = new ArrayList<>();
      for (String name : names) {
        switch (name) {
          case COLLECTIVES -> services.addAll(List.of(collectives, membership));
          case RENDEZVOUS -> services.add(rendezvous);
          case CHANNEL -> services.add(lanes.service(lane++));
          default -> throw new IllegalArgumentException("unknown service " + name);
        }
      }
      all.add(services);
    }
    return all;
  }
}
