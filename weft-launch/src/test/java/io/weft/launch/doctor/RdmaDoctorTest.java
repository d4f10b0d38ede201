// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.doctor.CheckResult.CheckVerdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Checks the doctor's report on a real RDMA device, which `tools/rdma-vm` creates. The tests run
/// sequentially because each changes the device and restores it.
@Tag("rdma")
class RdmaDoctorTest {

  private static final int LIMIT_SECONDS = 300;

  /// Prints one line for each finding about RDMA, locked memory and an attempt to use the
  /// transport.
  static final class Report {
    public static void main(String[] none) {
      System.out.println("report");
      LockedMemory.look(Path.of("/")).ifPresent(System.out::println);
      RdmaChecks.look().forEach(System.out::println);
      System.out.println(tried());
    }
  }

  /// Returns the result of an attempt to use the transport.
  private static CheckResult tried() {
    return TransportChecks.look().stream()
        .filter(finding -> finding.subject().equals("verbs"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("the transport verbs was not tried"));
  }

  @Test
  void aWorkingDeviceIsShownWithItsAddress() {
    assertThat(RdmaChecks.look()).extracting(CheckResult::verdict).containsOnly(CheckVerdict.WORKS);
    assertThat(of("libibverbs").detail()).contains("rxe");
    assertThat(of("rxe0, port 1").detail()).contains("ACTIVE", "Ethernet");
    assertThat(of("rxe0, port 1, GIDs").detail()).contains("::ffff:10.77.0.1 on dummy0");
    assertThat(tried()).isEqualTo(CheckResult.works("transport", "verbs", "rxe0"));
  }

  @Test
  void aPortThatIsDownIsReportedWithItsRemedy() throws IOException, InterruptedException {
    run("ip", "link", "set", "dummy0", "down");
    CheckResult down = of("rxe0, port 1");
    CheckResult useless = tried();
    run("ip", "link", "set", "dummy0", "up");
    assertThat(down.verdict()).isEqualTo(CheckVerdict.MISSING);
    assertThat(down.remedy()).contains("ip link set dummy0 up");
    assertThat(useless.verdict()).isEqualTo(CheckVerdict.MISSING);
    assertThat(useless.detail())
        .contains("no RDMA device with an active port", "port 1 of rxe0 is");
    assertThat(of("rxe0, port 1").verdict()).isEqualTo(CheckVerdict.WORKS);
  }

  @Test
  void aRemovedDeviceIsReported() throws IOException, InterruptedException {
    run("rdma", "link", "delete", "rxe0");
    List<CheckResult> without = RdmaChecks.look();
    CheckResult useless = tried();
    run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "dummy0");
    assertThat(without).extracting(CheckResult::subject).containsExactly("libibverbs", "devices");
    assertThat(useless.detail()).contains("'ibv_devices' lists none");
    assertThat(of("rxe0").verdict()).isEqualTo(CheckVerdict.WORKS);
  }

  @Tag("long")
  @Test
  void lowLockedMemoryLimitIsReportedWithTheNeededBytes() throws IOException, InterruptedException {
    assertThat(reportOfNobody())
        .contains("65536 bytes (RLIMIT_MEMLOCK)", "at least 524288 bytes more are needed")
        .contains("can be opened");
  }

  @Test
  void missingPermissionAndLowLockedMemoryAreReported() throws IOException, InterruptedException {
    String node = "/dev/infiniband/uverbs0";
    run("chmod", "600", node);
    String report = reportOfNobody();
    run("chmod", "666", node);
    assertThat(report)
        .contains("no permission to read and write " + node, "chmod 666 " + node)
        .contains("locked memory", "0.1 MiB; RDMA registers memory by locking it");
  }

  /// Returns the report for a user without privileges and with a limit of 64 KiB.
  private static String reportOfNobody() throws IOException, InterruptedException {
    return run(
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "prlimit",
        "--memlock=65536:65536",
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        Report.class.getName());
  }

  private static CheckResult of(String subject) {
    return RdmaChecks.look().stream()
        .filter(finding -> finding.subject().equals(subject))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + subject + " in " + RdmaChecks.look()));
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("%s said: %s", List.of(command), said).isZero();
    return said;
  }
}
