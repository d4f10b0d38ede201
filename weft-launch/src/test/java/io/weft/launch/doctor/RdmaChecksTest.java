// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.doctor.CheckResult.CheckVerdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaChecksTest {

  private static final String LOCAL = "fe80:0000:0000:0000:0000:00ff:fe00:0001";
  private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:0a4d:0001";
  private static final String UNUSED = "0000:0000:0000:0000:0000:0000:0000:0000";

  @TempDir private Path root;
  private SystemTree system;

  @BeforeEach
  void tree() throws IOException {
    system = new SystemTree(root).library();
  }

  @Test
  void aRoceDeviceWithAnIpv4AddressWorks() throws IOException {
    roce("4: ACTIVE", "5: LinkUp").gid("mlx5_0", 1, MAPPED, "RoCE v2").gid("mlx5_0", 2, UNUSED, "");
    assertThat(RdmaChecks.look(root))
        .extracting(CheckResult::verdict)
        .containsOnly(CheckVerdict.WORKS);
    assertThat(of("libibverbs").detail()).contains("libibverbs.so.1", "knows mlx5");
    assertThat(of("mlx5_0").detail()).contains("uverbs0");
    assertThat(of("mlx5_0, port 1").detail()).isEqualTo("ACTIVE, LinkUp, Ethernet");
    assertThat(of("mlx5_0, port 1, GIDs").detail())
        .isEqualTo("2 in use, 2 of RoCE v2; 1 = ::ffff:10.77.0.1 on eth2");
  }

  @Test
  void anInfinibandDeviceIsAddressedByItsLid() throws IOException {
    system
        .device("mlx5_0", "4: ACTIVE", "5: LinkUp", "InfiniBand", "0x1f")
        .gid("mlx5_0", 0, LOCAL, "IB/RoCE v1");
    assertThat(of("mlx5_0, port 1, GIDs")).isEqualTo(works("mlx5_0, port 1, GIDs", "LID 31"));
  }

  @Test
  void aPortWithoutSubnetManagerAdvisesOpensm() throws IOException {
    system.device("mlx5_0", "2: INIT", "5: LinkUp", "InfiniBand", "0x0");
    assertThat(of("mlx5_0, port 1").remedy()).contains("opensm");
    assertThat(of("mlx5_0, port 1, GIDs").remedy()).contains("opensm");
  }

  @Test
  void aPortThatIsDownNamesItsInterface() throws IOException {
    roce("1: DOWN", "3: Disabled").gid("mlx5_0", 1, MAPPED, "RoCE v2");
    assertThat(of("mlx5_0, port 1").verdict()).isEqualTo(CheckVerdict.MISSING);
    assertThat(of("mlx5_0, port 1").detail()).isEqualTo("DOWN, Disabled, Ethernet");
    assertThat(of("mlx5_0, port 1").remedy()).contains("ip link set eth2 up");
  }

  @Test
  void aGidTableWithoutIpv4AddressIsLimited() throws IOException {
    roce("4: ACTIVE", "5: LinkUp");
    assertThat(of("mlx5_0, port 1, GIDs").verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(of("mlx5_0, port 1, GIDs").remedy()).contains("ip addr add");
  }

  @Test
  void aGidTableWithOnlyRoceV1IsMissing() throws IOException {
    system
        .device("mlx4_0", "4: ACTIVE", "5: LinkUp", "Ethernet", "0x0")
        .gid("mlx4_0", 0, MAPPED, "IB/RoCE v1");
    assertThat(of("mlx4_0, port 1, GIDs").verdict()).isEqualTo(CheckVerdict.MISSING);
    assertThat(of("mlx4_0, port 1, GIDs").detail()).isEqualTo("1 in use, 0 of RoCE v2");
  }

  @Test
  void aMissingDriverIsReportedWithTheModuleToLoad() throws IOException {
    assertThat(of("devices").detail()).isEqualTo("none: the kernel has no driver for RDMA loaded");
    assertThat(of("devices").remedy()).contains("rdma_rxe");
    Files.createDirectories(root.resolve("sys/class/infiniband"));
    assertThat(of("devices").detail()).contains("has no device");
  }

  @Test
  void aDeviceWithoutItsUverbsFileIsReportedWithARemedy() throws IOException {
    roce("4: ACTIVE", "5: LinkUp");
    Files.delete(root.resolve("dev/infiniband/uverbs0"));
    assertThat(of("mlx5_0").detail()).contains("uverbs0 is not there");
    assertThat(of("mlx5_0").remedy()).contains("--device=");
    Files.delete(root.resolve("sys/class/infiniband_verbs/uverbs0/ibdev"));
    assertThat(of("mlx5_0").remedy()).contains("modprobe ib_uverbs");
  }

  @Test
  void aLibraryWithoutProvidersFindsNoDevice() throws IOException {
    Path directory = root.resolve("usr/lib/x86_64-linux-gnu");
    Files.delete(directory.resolve("libibverbs/libmlx5-rdmav34.so"));
    assertThat(of("libibverbs").remedy()).isEqualTo("install ibverbs-providers");
    Files.delete(directory.resolve("libibverbs.so.1"));
    assertThat(of("libibverbs").remedy()).contains("install libibverbs1");
    assertThat(of("libibverbs").verdict()).isEqualTo(CheckVerdict.MISSING);
  }

  @Test
  void aMalformedSystemFileMakesTheDevicesLimited() throws IOException {
    system.device("mlx5_0", "4: ACTIVE", "5: LinkUp", "Ethernet", "what?");
    assertThat(of("devices").verdict()).isEqualTo(CheckVerdict.LIMITED);
  }

  private SystemTree roce(String state, String physical) throws IOException {
    return system
        .device("mlx5_0", state, physical, "Ethernet", "0x0")
        .gid("mlx5_0", 0, LOCAL, "RoCE v2");
  }

  private CheckResult of(String subject) {
    List<CheckResult> findings = RdmaChecks.look(root);
    return findings.stream()
        .filter(finding -> finding.subject().equals(subject))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + subject + " in " + findings));
  }

  private static CheckResult works(String subject, String detail) {
    return CheckResult.works("rdma", subject, "addressed by " + detail);
  }
}
