// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.comm.CommException;
import io.weft.transport.spi.Encryption;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class JobStoreTest {

  private static final String SECRET = "0123456789abcdef";
  private static final Duration LIMIT = Duration.ofSeconds(10);

  @TempDir Path temporary;

  private static JobStore open(Map<String, String> environment) throws InterruptedException {
    return JobStore.open(
        LaunchEnvironment.detect(environment),
        WeftConfig.load(environment, new Properties()),
        environment);
  }

  private static Map<String, String> local(int rank, String job) {
    return Map.of(
        "OMPI_COMM_WORLD_RANK", "" + rank,
        "OMPI_COMM_WORLD_SIZE", "2",
        "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
        "WEFT_START_DEADLINE", "200ms",
        "PMIX_NAMESPACE", job);
  }

  private static Map<String, String> remote(int rank, int port, String secret) {
    var environment = new HashMap<String, String>();
    environment.put("WEFT_RANK", "" + rank);
    environment.put("WEFT_SIZE", "2");
    environment.put("WEFT_STORE", "127.0.0.1:" + port);
    if (!secret.isEmpty()) {
      environment.put("WEFT_SECRET", secret);
    }
    return environment;
  }

  private static int freePort() throws Exception {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  @Test
  void aJobOfOneRankNeedsNoSettings() throws Exception {
    try (JobStore job = open(Map.of())) {
      job.store().put("k", new byte[] {1});
      assertThat(job.store().find("k")).isPresent();
      assertThat(job.bind()).isEqualTo("127.0.0.1");
      assertThat(job.toString()).doesNotContain(new String(job.secret().bytes()));
    }
  }

  @Test
  void localRanksShareDirectoryAndSecretAndLeaveNothing() throws Exception {
    String name = "job-" + System.nanoTime();
    try (JobStore zero = open(local(0, name));
        JobStore one = open(local(1, name))) {
      zero.store().put("k", new byte[] {1});
      assertThat(one.store().get("k", LIMIT)).isEqualTo(new byte[] {1});
      assertThat(one.secret().bytes()).isEqualTo(zero.secret().bytes());
      assertThat(one.job()).isEqualTo(zero.job()).isEqualTo("pmix-" + name);
      assertThat(one.bind()).isEqualTo("127.0.0.1");
      assertThat(directories(name)).hasSize(1);
    }
    assertThat(directories(name)).isEmpty();
  }

  @Test
  void theErrorNamesARankZeroThatDoesNotArrive() {
    assertThatThrownBy(() -> open(local(1, "job-" + System.nanoTime())))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rank 0 did not arrive within 0.2 s");
  }

  @Test
  void aSecondJobOfTheSameNameIsRefused() throws Exception {
    String name = "job-" + System.nanoTime();
    try (JobStore first = open(local(0, name))) {
      assertThat(first.job()).contains(name);
      assertThatThrownBy(() -> open(local(0, name)))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("WEFT_JOB");
    }
  }

  @Test
  void leftoversOfACrashedJobAreNotJoined() throws Exception {
    JobDirectory directory = JobDirectory.of(temporary, "crashed");
    Path run = directory.create();
    Files.writeString(run.resolve("key-old"), "old");
    // A process number above the system's limit belongs to no live process.
    Files.writeString(run.resolveSibling("current"), run.getFileName() + "\n99999999\n0\n");
    JobDirectory next = JobDirectory.of(temporary, "crashed");
    assertThatThrownBy(() -> next.await(Duration.ofMillis(50)))
        .isInstanceOf(CommException.Setup.class);
    Path fresh = next.create();
    next.publish(fresh);
    assertThat(run).doesNotExist();
    assertThat(next.await(LIMIT)).isEqualTo(fresh);
    next.remove();
    assertThat(temporary.resolve(fresh.getParent())).doesNotExist();
  }

  /// The directories of jobs with other names are removed if their process was killed, but not if
  /// it is alive or in another container.
  @Test
  void directoriesOfKilledJobsAreRemovedWithTheirSecrets() throws Exception {
    Process dead = new ProcessBuilder("sleep", "1000").start();
    String killed = ProcessIdentity.of(dead.toHandle()).toString();
    assertThat(dead.destroyForcibly().waitFor(20, TimeUnit.SECONDS)).isTrue();
    Path left = leftBy("killed", killed);
    Path foreign = leftBy("foreign", killed.replaceAll("@[^@]*$", "@pid:[1]"));
    Path living = leftBy("living", ProcessIdentity.local().toString());
    JobDirectory next = JobDirectory.of(temporary, "next");
    next.create();
    if (ProcessIdentity.local().namespace().isEmpty()) {
      return;
    }
    assertThat(left).doesNotExist();
    assertThat(left.getParent()).doesNotExist();
    assertThat(foreign.resolve("secret")).exists();
    assertThat(living.resolve("secret")).exists();
    next.remove();
  }

  private Path leftBy(String job, String identity) throws Exception {
    JobDirectory directory = JobDirectory.of(temporary, job);
    Path run = directory.create();
    SecretFile.create(run.resolve("secret"));
    directory.publish(run);
    Files.delete(run.resolve("owner"));
    RunOwner self = RunOwner.current();
    new RunOwner(identity, self.host(), self.boot()).write(run);
    return run;
  }

  @Test
  @Timeout(20)
  void plantedFilesAreNotReadBeforeTheirOwnerIsKnown() throws Exception {
    Path run = JobDirectory.of(temporary, "planted").create();
    Path current = run.resolveSibling("current");
    assertThat(new ProcessBuilder("mkfifo", current.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> JobDirectory.of(temporary, "planted").await(LIMIT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("a FIFO, a socket or a device");
    Files.delete(current);
    Files.createSymbolicLink(current, Path.of("/dev/zero"));
    assertThatThrownBy(() -> JobDirectory.of(temporary, "planted").await(LIMIT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("a symbolic link");
    Files.setPosixFilePermissions(
        run.getParent().getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> JobDirectory.of(temporary, "planted").await(LIMIT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rwxrwxrwx");
  }

  @Test
  void directoryThatOthersCanEnterIsRefused() throws Exception {
    Path user = temporary.resolve("weft-" + System.getProperty("user.name"));
    Files.createDirectory(user);
    Files.setPosixFilePermissions(user, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> JobDirectory.of(temporary, "j").create())
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rwxrwxrwx");
  }

  @Test
  void rankZeroHostsTheStoreAtTheGivenAddress() throws Exception {
    int port = freePort();
    try (JobStore zero = open(remote(0, port, SECRET));
        JobStore one = open(remote(1, port, SECRET))) {
      one.store().put("k", new byte[] {1});
      assertThat(zero.store().get("k", LIMIT)).isEqualTo(new byte[] {1});
      assertThat(one.job()).isEqualTo(zero.job());
      assertThat(one.bind()).isEqualTo("127.0.0.1");
    }
  }

  @Test
  void aStoreOnTheNetworkNeedsASecret() throws Exception {
    int port = freePort();
    assertThatThrownBy(() -> open(remote(0, port, "")))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("WEFT_SECRET_FILE");
  }

  @Test
  void theLauncherHostsTheStore() throws Exception {
    var secret = io.weft.transport.spi.Secret.of(SECRET.getBytes());
    try (var server =
        TcpStoreServer.bind(
            InetAddress.getLoopbackAddress(),
            0,
            new JobTrust(secret, new Encryption.Off(), "job"),
            LIMIT)) {
      var environment = remote(0, server.address().getPort(), SECRET);
      environment.put("WEFT_LAUNCHER", "weft");
      environment.put("WEFT_JOB", "job");
      environment.put("WEFT_BIND", "127.0.0.9");
      try (JobStore zero = open(environment)) {
        zero.store().put("k", new byte[] {1});
        assertThat(zero.bind()).isEqualTo("127.0.0.9");
      }
    }
  }

  private static List<Path> directories(String name) throws Exception {
    Path user =
        Path.of(System.getProperty("java.io.tmpdir"), "weft-" + System.getProperty("user.name"));
    try (Stream<Path> jobs = Files.list(user)) {
      return jobs.filter(path -> path.getFileName().toString().contains(name)).toList();
    }
  }
}
