// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The claim of rank 0 on the address at which its job's ranks meet. If another job's ranks meet at
/// the address, rank 0 waits, because that job's store ends when its rank 0 leaves. User thread.
final class AddressClaim {

  private static final Logger LOG = LoggerFactory.getLogger(AddressClaim.class);
  private static final Duration RETRY = Duration.ofMillis(100);
  private static final Duration LOOK = Duration.ofSeconds(5);

  /// The longest time for which an address may be in use without a store that answers there.
  private static final Duration VACANT = Duration.ofSeconds(2);

  private AddressClaim() {}

  /// Binds the server to the address. Throws `CommException.Setup` if the host name is unknown or
  /// its address is not this host's. Throws it after two seconds if the port is in use, but not by
  /// another job's store, and at the deadline, naming both jobs, if another job's store uses it.
  static TcpStoreServer bind(String host, int port, JobTrust trust, Deadline deadline)
      throws InterruptedException {
    Deadline vacant = Deadline.after(VACANT);
    while (true) {
      CommException.Setup taken;
      try {
        return bindAny(resolve(host, deadline), port, trust, deadline.total());
      } catch (CommException.Setup refused) {
        taken = refused;
      }
      if (!(taken.getCause() instanceof BindException inUse)
          || !String.valueOf(inUse.getMessage()).contains("in use")) {
        throw taken;
      }
      Optional<String> other = otherJob(host, port, trust, taken);
      if (other.isPresent()) {
        vacant = Deadline.after(VACANT); // its store may end at any moment, then its port
      } else if (vacant.passed()) {
        throw taken;
      }
      if (deadline.passed()) {
        throw new CommException.Setup(
            "rank 0 cannot serve the job's store at "
                + TcpStore.location(host, port)
                + ": for "
                + deadline
                + " "
                + other.orElse("it was in use by a process that does not answer")
                + "; give one of the jobs another WEFT_STORE",
            taken);
      }
      deadline.pause(RETRY);
    }
  }

  /// Describes the other job that uses the port. Empty if no store answers there. Throws if it is
  /// another rank 0 of this job.
  private static Optional<String> otherJob(
      String host, int port, JobTrust trust, CommException.Setup taken) {
    try {
      TcpStore.connectOnce(host, port, trust, LOOK, LOOK).close();
      throw new CommException.Setup(
          "another process is rank 0 of job '"
              + trust.job()
              + "' already and serves its store at "
              + TcpStore.location(host, port)
              + "; start each rank once, or give this job another WEFT_JOB",
          taken);
    } catch (JobMismatch other) {
      LOG.info("waiting for {}:{}: {}", host, port, other.getMessage());
      return Optional.of(String.valueOf(other.getMessage()));
    } catch (IOException noStore) {
      LOG.debug("{}:{} is in use: {}", host, port, noStore.getMessage());
      return Optional.empty();
    }
  }

  /// Binds to the first address that is this host's, preferring addresses that other hosts can
  /// reach.
  private static TcpStoreServer bindAny(
      List<InetAddress> addresses, int port, JobTrust trust, Duration startDeadline) {
    CommException.Setup failed = null;
    for (InetAddress address : addresses) {
      try {
        return TcpStoreServer.bind(address, port, trust, startDeadline);
      } catch (CommException.Setup refused) {
        failed = failed == null ? refused : failed;
      }
    }
    throw failed == null ? new CommException.Setup("no address to listen on", null) : failed;
  }

  /// Resolves the name. It retries, because a cluster may publish a name only after the process
  /// starts.
  private static List<InetAddress> resolve(String host, Deadline deadline)
      throws InterruptedException {
    while (true) {
      try {
        return Arrays.stream(InetAddress.getAllByName(host))
            .sorted(Comparator.comparing(InetAddress::isLoopbackAddress))
            .toList();
      } catch (UnknownHostException notYet) {
        if (deadline.passed()) {
          throw new CommException.Setup(
              "rank 0 cannot resolve '"
                  + host
                  + "', where it must serve the job's store; set"
                  + " WEFT_STORE to HOST:PORT of rank 0",
              notYet);
        }
        deadline.pause(RETRY);
      }
    }
  }
}
