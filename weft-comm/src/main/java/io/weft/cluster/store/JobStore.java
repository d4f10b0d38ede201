// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.CommException;
import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.transport.spi.Secret;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/// This rank's way into its job: the store, the secret and the name that all its ranks share, and
/// the address at which they can reach this rank. Rank 0 keeps the store where no launcher does,
/// and must therefore close last; when all others are connected with it, they have read all. Owned;
/// thread-safe.
///
/// @param store where ranks find each other
/// @param secret what only this job's ranks know
/// @param job name of the job, the same on all ranks
/// @param bind where to listen: the setting, else loopback when all ranks are local, else this
///   host's address towards the store
/// @param keeper ends the store on the rank that keeps it; nothing elsewhere
public record JobStore(Store store, Secret secret, String job, String bind, Runnable keeper)
    implements AutoCloseable {

  private static final Duration RETRY = Duration.ofMillis(100);
  private static final String LOOPBACK = "127.0.0.1";

  /// Opens what `launch` says, within the start deadline. `environment` may hold the secret itself.
  /// Throws `CommException.Setup` with what to set.
  public static JobStore open(
      LaunchEnvironment launch, WeftConfig config, Map<String, String> environment)
      throws InterruptedException {
    StoreLocation location = launch.store();
    // A store that was set here and not in the environment goes before what the launcher implied.
    boolean overridden =
        config.store().isPresent()
            && launch.size() > 1
            && !(location instanceof StoreLocation.Hosted)
            && !config.store().get().equals(environment.get("WEFT_STORE"));
    if (overridden) {
      location = StoreLocation.byRankZero(config.store().get());
    }
    return switch (location) {
      case StoreLocation.InProcess() -> inProcess(launch, config, environment);
      case StoreLocation.LocalDirectory() -> directory(launch, config, environment);
      case StoreLocation.Hosted(String host, int port) ->
          connect(launch, config, environment, host, port);
      case StoreLocation.ByRankZero(String host, int port) ->
          launch.rank() == 0
              ? keep(launch, config, environment, host, port)
              : connect(launch, config, environment, host, port);
    };
  }

  /// Leaves the store; on the rank that keeps it, ends it and removes what it left on disk.
  @Override
  public void close() {
    try {
      store.close();
    } finally {
      keeper.run();
    }
  }

  private static JobStore inProcess(
      LaunchEnvironment launch, WeftConfig config, Map<String, String> environment) {
    Secret secret = SecretFile.find(config, environment).orElseGet(SecretFile::random);
    return new JobStore(
        new InMemoryStore(),
        secret,
        job(launch, config, "process-" + ProcessHandle.current().pid()),
        config.bind().orElse(LOOPBACK),
        () -> {});
  }

  private static JobStore directory(
      LaunchEnvironment launch, WeftConfig config, Map<String, String> environment)
      throws InterruptedException {
    // Where the launcher names no job, its own process does: all ranks are its children.
    long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
    String job = job(launch, config, "parent-" + parent);
    JobDirectory directory =
        JobDirectory.of(Path.of(System.getProperty("java.io.tmpdir", "/tmp")), job);
    var given = SecretFile.find(config, environment);
    String bind = config.bind().orElse(LOOPBACK);
    if (launch.rank() > 0) {
      Path run = directory.await(config.startDeadline());
      Secret secret = given.orElseGet(() -> SecretFile.read(run.resolve("secret")));
      return new JobStore(new FileStore(run), secret, job, bind, () -> {});
    }
    Path run = directory.create();
    Secret secret = given.orElseGet(() -> SecretFile.create(run.resolve("secret")));
    directory.publish(run);
    return new JobStore(new FileStore(run), secret, job, bind, directory::remove);
  }

  private static JobStore connect(
      LaunchEnvironment launch,
      WeftConfig config,
      Map<String, String> environment,
      String host,
      int port)
      throws InterruptedException {
    Secret secret = required(config, environment, host, port);
    TcpStore store =
        TcpStore.connect(host, port, JobTrust.of(config, secret), config.startDeadline());
    String bind = config.bind().orElseGet(() -> store.localAddress().getHostAddress());
    return new JobStore(store, secret, job(launch, config, host + ":" + port), bind, () -> {});
  }

  private static JobStore keep(
      LaunchEnvironment launch,
      WeftConfig config,
      Map<String, String> environment,
      String host,
      int port)
      throws InterruptedException {
    Secret secret = required(config, environment, host, port);
    InetAddress address = resolve(host, Deadline.after(config.startDeadline()));
    JobTrust trust = JobTrust.of(config, secret);
    TcpStoreServer server = TcpStoreServer.bind(address, port, trust);
    try {
      TcpStore store =
          TcpStore.connect(address.getHostAddress(), port, trust, config.startDeadline());
      String bind = config.bind().orElseGet(address::getHostAddress);
      return new JobStore(
          store, secret, job(launch, config, host + ":" + port), bind, server::close);
    } catch (InterruptedException | RuntimeException failed) {
      server.close();
      throw failed;
    }
  }

  private static String job(LaunchEnvironment launch, WeftConfig config, String otherwise) {
    return config.job().or(launch::job).orElse(otherwise);
  }

  private static Secret required(
      WeftConfig config, Map<String, String> environment, String host, int port) {
    return SecretFile.find(config, environment)
        .orElseThrow(
            () ->
                new CommException.Setup(
                    "the ranks of this job meet at "
                        + host
                        + ":"
                        + port
                        + " and need a secret; set WEFT_SECRET_FILE to a file that only you can"
                        + " read, the same on all ranks (or WEFT_SECRET), made by"
                        + " 'head -c 32 /dev/urandom | base64'",
                    null));
  }

  /// A name of a cluster may be published only after the process starts.
  private static InetAddress resolve(String host, Deadline deadline) throws InterruptedException {
    while (true) {
      try {
        return InetAddress.getByName(host);
      } catch (UnknownHostException notYet) {
        if (deadline.passed()) {
          throw new CommException.Setup(
              "rank 0 cannot resolve '"
                  + host
                  + "', where it must keep the bootstrap store; set"
                  + " WEFT_STORE to HOST:PORT of rank 0",
              notYet);
        }
        deadline.pause(RETRY);
      }
    }
  }
}
