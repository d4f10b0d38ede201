// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStore;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.Transport;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A program that joins a job of two ranks repeatedly, with a few more files left to open at each
/// attempt.
public final class FewFiles {

  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int MOST_LEFT = 24;

  private FewFiles() {}

  /// Prints one line for each attempt.
  public static void main(String[] arguments) throws Exception {
    for (Class<?> one : List.of(DType.class, Transport.class, Weft.class, LocalJob.class)) {
      loadAllBeside(one);
    }
    Secret secret = SecretFile.random();
    Callable<?> job = () -> job(SHORT);
    try (TcpStoreServer store =
        TcpStoreServer.bind(
            InetAddress.getLoopbackAddress(),
            0,
            new JobTrust(secret, new Encryption.Off(), "job"),
            Duration.ofSeconds(60))) {
      Callable<?> visit = () -> visit(store, secret, SHORT);
      System.out.println("at first: " + job(LONG) + ", " + visit(store, secret, LONG));
      var held = new ArrayDeque<InputStream>();
      holdAll(held);
      System.out.println("store with 0 left: " + attempt(visit));
      for (int left = 0; left <= MOST_LEFT; left += 2) {
        System.out.println("job with " + left + " left: " + attempt(job));
        for (int i = 0; i < 2; i++) {
          held.pop().close();
        }
      }
      while (!held.isEmpty()) {
        held.pop().close();
      }
      System.out.println("in the end: " + job(LONG) + ", " + visit(store, secret, LONG));
    }
    System.exit(0);
  }

  /// Loads all classes beside this one. Loading a class from a directory needs a file descriptor,
  /// and a class that failed to load is lost for good.
  private static void loadAllBeside(Class<?> one) throws Exception {
    Path source = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (!Files.isDirectory(source)) {
      return;
    }
    try (Stream<Path> files = Files.walk(source.resolve("io/weft"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        String name = source.relativize(file).toString().replaceAll("\\.class$", "");
        if (name.matches(
            "io/weft/(\\w+|(tensor|transport|agent|cluster|collective|testkit/job)/.*)")) {
          load(name.replace('/', '.'));
        }
      }
    }
  }

  private static void load(String name) throws ClassNotFoundException {
    try {
      var unused = Class.forName(name, false, FewFiles.class.getClassLoader());
    } catch (NoClassDefFoundError withoutVectors) {
      assert withoutVectors.getMessage().contains("incubator");
    }
  }

  private static String attempt(Callable<?> what) throws Exception {
    try {
      return "done " + what.call();
    } catch (CommException refused) {
      var messages = new StringBuilder(String.valueOf(refused.getMessage()));
      for (Throwable other : refused.getSuppressed()) {
        messages.append(" | ").append(other.getMessage());
      }
      return messages.toString();
    }
  }

  /// Also takes files that are released late, such as the connection of the last visit to the
  /// store.
  private static void holdAll(ArrayDeque<InputStream> held) throws InterruptedException {
    int before;
    do {
      before = held.size();
      holdMore(held);
      var unused = new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
    } while (held.size() > before);
    System.out.println("holding " + held.size());
  }

  private static void holdMore(ArrayDeque<InputStream> held) {
    try {
      while (true) {
        held.push(Files.newInputStream(Path.of("/dev/null")));
      }
    } catch (IOException exhausted) {
      assert exhausted.getMessage() != null;
    }
  }

  private static int job(Duration limit) {
    WeftConfig config = WeftConfig.builder().transport("tcp").startDeadline(limit).build();
    try (LocalJob job = LocalJob.start(2, config)) {
      job.run(
          weft -> {
            var handle = weft.communicator().barrier(named("b"));
            var unused = handle.await();
            return true;
          });
      return job.ranks().size();
    }
  }

  private static int visit(TcpStoreServer server, Secret secret, Duration limit)
      throws InterruptedException {
    var address = server.address();
    try (TcpStore store =
        TcpStore.connect(
            address.getAddress().getHostAddress(),
            address.getPort(),
            new JobTrust(secret, new Encryption.Off(), "job"),
            limit)) {
      store.put("key", new byte[] {7});
      return store.get("key", limit).length;
    }
  }
}
