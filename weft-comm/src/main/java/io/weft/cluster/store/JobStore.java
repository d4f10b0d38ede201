// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.comm.CommException;
import io.weft.config.Settings;
import io.weft.transport.spi.Secret;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The access of this rank to its job: the store, the secret and the name that all ranks share, and
/// the address at which other ranks can reach this rank. If no launcher serves the store, rank 0
/// does, until it closes this object when it leaves the job. Owned; thread-safe.
///
/// @param store the store in which ranks find each other
/// @param secret the secret that only this job's ranks know
/// @param job name of the job, for people and files, equal on all ranks
/// @param bind the address to listen on: the setting, or loopback if all ranks are local, or this
///   host's address towards the store
/// @param storeEnd ends the store on the rank that serves it; has no effect on other ranks
public record JobStore(Store store, Secret secret, String job, String bind, Runnable storeEnd)
    implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JobStore.class);
  private static final String LOOPBACK = "127.0.0.1";
  private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", LOOPBACK, "::1");

  /// Opens the store that `launch` names, within the start deadline. `environment` may contain the
  /// secret itself. Throws `CommException.Setup` with the settings to change.
  public static JobStore open(
      LaunchEnvironment launch, Settings settings, Map<String, String> environment)
      throws InterruptedException {
    StoreLocation location = launch.store();
    // A store that is set by other means than WEFT_STORE takes precedence over the one that the
    // launcher implies.
    boolean overridden =
        settings.value(JobConfig.STORE).isPresent()
            && launch.size() > 1
            && !(location instanceof StoreLocation.Hosted)
            && !settings.value(JobConfig.STORE).get().equals(environment.get("WEFT_STORE"));
    if (overridden) {
      location = StoreLocation.byRankZero(settings.value(JobConfig.STORE).get());
    }
    return switch (location) {
      case StoreLocation.InProcess() -> inProcess(launch, settings, environment);
      case StoreLocation.LocalDirectory() ->
          directory(launch, settings, environment, JobIdentity.ofNamed(launch, settings));
      case StoreLocation.SiblingDirectory() ->
          directory(launch, settings, environment, JobIdentity.ofSiblings(launch, settings));
      case StoreLocation.Hosted hosted -> {
        String job = JobIdentity.ofHosted(launch, settings, hosted);
        yield connect(launch, settings, environment, new At(hosted.host(), hosted.port(), job));
      }
      case StoreLocation.ByRankZero(String host, int port) -> {
        var at = new At(host, port, JobIdentity.ofAddress(launch, settings, host, port));
        yield launch.rank() == 0 && !joins(settings)
            ? keep(launch, settings, environment, at)
            : connect(launch, settings, environment, at);
      }
    };
  }

  /// Leaves the store. The rank that serves it also ends it and removes its files.
  @Override
  public void close() {
    try {
      store.close();
    } finally {
      storeEnd.run();
    }
  }

  private static JobStore inProcess(
      LaunchEnvironment launch, Settings settings, Map<String, String> environment) {
    if (joins(settings)) {
      throw new CommException.Setup(
          "this process should join a running job (setting join), but no setting names the job;"
              + " give it the WEFT_RANK, WEFT_SIZE, WEFT_STORE, WEFT_JOB and secret of the rank"
              + " that it replaces",
          null);
    }
    Secret secret = SecretFile.find(settings, environment).orElseGet(SecretFile::random);
    return new JobStore(
        new InMemoryStore(),
        secret,
        job(launch, settings, "process-" + ProcessHandle.current().pid()),
        settings.value(JobConfig.BIND).orElse(LOOPBACK),
        () -> {});
  }

  private static JobStore directory(
      LaunchEnvironment launch, Settings settings, Map<String, String> environment, String identity)
      throws InterruptedException {
    String job = job(launch, settings, identity);
    JobDirectory directory =
        JobDirectory.of(Path.of(System.getProperty("java.io.tmpdir", "/tmp")), identity);
    var given = SecretFile.find(settings, environment);
    String bind = settings.value(JobConfig.BIND).orElse(LOOPBACK);
    if (launch.rank() > 0 || joins(settings)) {
      Path run;
      try {
        run = directory.await(settings.required(JobConfig.START_DEADLINE));
      } catch (CommException.Setup outOfReach) {
        throw joins(settings) ? withoutKeeper(outOfReach) : outOfReach;
      }
      Secret secret = given.orElseGet(() -> SecretFile.read(run.resolve("secret")));
      return new JobStore(new FileStore(run), secret, job, bind, () -> {});
    }
    Path run = directory.create();
    Secret secret = given.orElseGet(() -> SecretFile.create(run.resolve("secret")));
    directory.publish(run);
    // A program may end without leaving its job. If the process is killed, the next rank 0 removes
    // the remains.
    Thread atExit = Thread.ofPlatform().name("weft-store-end").unstarted(directory::remove);
    Runtime.getRuntime().addShutdownHook(atExit);
    return new JobStore(new FileStore(run), secret, job, bind, () -> end(directory, atExit));
  }

  private static void end(JobDirectory directory, Thread atExit) {
    directory.remove();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException endsAlready) {
      LOG.debug("{} was removed while the process ends", directory);
    }
  }

  /// The address of a store on the network.
  ///
  /// @param job the identity of the job that it must serve
  private record At(String host, int port, String job) {

    @Override
    public String toString() {
      return TcpStore.location(host, port);
    }
  }

  private static JobStore connect(
      LaunchEnvironment launch, Settings settings, Map<String, String> environment, At at)
      throws InterruptedException {
    Secret secret = required(settings, environment, at);
    JobTrust trust = JobTrust.of(settings, secret, at.job());
    Duration limit = settings.required(JobConfig.START_DEADLINE);
    TcpStore store;
    try {
      store = TcpStore.connect(at.host(), at.port(), trust, limit);
    } catch (CommException.Setup outOfReach) {
      throw joins(settings) ? withoutKeeper(outOfReach) : outOfReach;
    }
    String bind =
        settings.value(JobConfig.BIND).orElseGet(() -> store.localAddress().getHostAddress());
    return new JobStore(store, secret, job(launch, settings, at.job()), bind, () -> {});
  }

  private static JobStore keep(
      LaunchEnvironment launch, Settings settings, Map<String, String> environment, At at)
      throws InterruptedException {
    Secret secret = required(settings, environment, at);
    Deadline deadline = Deadline.after(settings.required(JobConfig.START_DEADLINE));
    JobTrust trust = JobTrust.of(settings, secret, at.job());
    TcpStoreServer server = AddressClaim.bind(at.host(), at.port(), trust, deadline);
    try {
      InetAddress address = server.address().getAddress();
      TcpStore store =
          TcpStore.connect(
              address.getHostAddress(),
              at.port(),
              trust,
              settings.required(JobConfig.START_DEADLINE));
      boolean local =
          launch.localSize().isPresent() && launch.localSize().getAsInt() == launch.size();
      if (address.isLoopbackAddress() && !local) {
        if (!LOOPBACK_NAMES.contains(at.host())) {
          LOG.warn("{} is a loopback address here: no other host can reach this rank", at);
        }
        store.beware(
            "; rank 0 serves the job's store at "
                + at
                + ", which on its host is the loopback address "
                + address.getHostAddress()
                + " that no other host can reach: if ranks run on other hosts, set WEFT_STORE to"
                + " another address of this host, on all ranks");
      }
      String bind = settings.value(JobConfig.BIND).orElseGet(address::getHostAddress);
      return new JobStore(store, secret, job(launch, settings, at.job()), bind, server::close);
    } catch (InterruptedException | RuntimeException failed) {
      server.close();
      throw failed;
    }
  }

  private static CommException.Setup withoutKeeper(CommException.Setup cause) {
    return new CommException.Setup(
        cause.getMessage()
            + "; this process should join a running job (setting join), which is possible only"
            + " while the server of the job's store runs: the launcher, or rank 0 without a"
            + " launcher. If it has ended, start the job again",
        cause.ranks(),
        cause);
  }

  /// Returns whether this process joins a running job; such a process never serves the store.
  private static boolean joins(Settings settings) {
    return settings.required(JobConfig.JOIN);
  }

  private static String job(LaunchEnvironment launch, Settings settings, String otherwise) {
    return settings.value(JobConfig.JOB).or(launch::job).orElse(otherwise);
  }

  private static Secret required(Settings settings, Map<String, String> environment, At at) {
    return SecretFile.find(settings, environment)
        .orElseThrow(
            () ->
                new CommException.Setup(
                    "the ranks of this job meet at "
                        + at
                        + " and need a secret; set WEFT_SECRET_FILE to a file that only you can"
                        + " read, with equal contents on all ranks (or WEFT_SECRET), made by"
                        + " 'head -c 32 /dev/urandom | base64'",
                    null));
  }
}
