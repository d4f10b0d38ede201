// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.doctor.CheckResult.CheckVerdict;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockedMemoryTest {

  private static final String ALL_USERS = "         0          0 4294967295";
  private static final String FEW_USERS = "         0     100000      65536";

  @TempDir private Path root;

  @Test
  void aLimitThatIsTooLowIsReportedWithTheNeededSize() throws IOException {
    CheckResult finding = look("65536", "0000000000000000", ALL_USERS);
    assertThat(finding.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(finding.detail()).contains("0.1 MiB", SystemFiles.size(LockedMemory.ENOUGH_BYTES));
    assertThat(finding.remedy()).contains("ulimit -l", "LimitMEMLOCK");
  }

  @Test
  void sufficientAndUnlimitedLimitsWork() throws IOException {
    long enough = LockedMemory.ENOUGH_BYTES;
    assertThat(look(Long.toString(enough), "0", ALL_USERS).verdict()).isEqualTo(CheckVerdict.WORKS);
    assertThat(look(Long.toString(enough - 1), "0", ALL_USERS).verdict())
        .isEqualTo(CheckVerdict.LIMITED);
    assertThat(look("unlimited", "0", ALL_USERS).detail()).isEqualTo("unlimited");
  }

  @Test
  void aProcessWithCapIpcLockIsNotLimited() throws IOException {
    assertThat(look("65536", "000001ffffffffff", ALL_USERS).verdict())
        .isEqualTo(CheckVerdict.WORKS);
    assertThat(look("65536", "0000000000004000", ALL_USERS).detail()).contains("CAP_IPC_LOCK");
  }

  @Test
  void rootInAUserNamespaceIsLimited() throws IOException {
    assertThat(look("65536", "000001ffffffffff", FEW_USERS).verdict())
        .isEqualTo(CheckVerdict.LIMITED);
  }

  private CheckResult look(String limit, String capabilities, String users) throws IOException {
    new SystemTree(root)
        .file("proc/self/limits", "Max locked memory         " + limit + "     unlimited     bytes")
        .file("proc/self/status", "Name:\tjava\nCapEff:\t" + capabilities)
        .file("proc/self/uid_map", users);
    return LockedMemory.look(root).orElseThrow();
  }
}
