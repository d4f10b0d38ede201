// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchEnvironmentTest {

  private static final Map<String, String> WEFT =
      Map.of(
          "WEFT_RANK", "1",
          "WEFT_SIZE", "4",
          "WEFT_LOCAL_RANK", "1",
          "WEFT_LOCAL_SIZE", "2",
          "WEFT_CROSS_RANK", "0",
          "WEFT_CROSS_SIZE", "2",
          "WEFT_STORE", "10.0.0.7:4000",
          "WEFT_JOB", "j1");

  private static final Map<String, String> OPEN_MPI =
      Map.of(
          "OMPI_COMM_WORLD_RANK", "1",
          "OMPI_COMM_WORLD_SIZE", "2",
          "OMPI_COMM_WORLD_LOCAL_RANK", "1",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
          "PMIX_NAMESPACE", "3170893825",
          "PMIX_RANK", "1");

  private static final Map<String, String> SLURM =
      Map.of(
          "SLURM_PROCID", "5",
          "SLURM_STEP_NUM_TASKS", "8",
          "SLURM_NTASKS", "99",
          "SLURM_LOCALID", "1",
          "SLURM_STEP_ID", "0",
          "SLURM_JOB_ID", "4711",
          "SLURM_STEP_NODELIST", "gnode[10,20-22]");

  private static final Map<String, String> TORCHRUN =
      Map.of(
          "RANK", "3",
          "WORLD_SIZE", "4",
          "LOCAL_RANK", "1",
          "LOCAL_WORLD_SIZE", "2",
          "MASTER_ADDR", "node1",
          "MASTER_PORT", "29500",
          "TORCHELASTIC_RUN_ID", "abc");

  private static Map<String, String> with(Map<String, String> base, String... changes) {
    var changed = new HashMap<>(base);
    for (int i = 0; i < changes.length; i += 2) {
      if (changes[i + 1].isEmpty()) {
        changed.remove(changes[i]);
      } else {
        changed.put(changes[i], changes[i + 1]);
      }
    }
    return changed;
  }

  @Test
  void anEmptyEnvironmentIsAJobOfOneRank() {
    LaunchEnvironment single = LaunchEnvironment.detect(Map.of("PATH", "/bin"));
    assertThat(single.launched()).isFalse();
    assertThat(single.rank()).isZero();
    assertThat(single.size()).isOne();
    assertThat(single.store()).isEqualTo(new StoreLocation.InProcess());
  }

  @Test
  void weftRunHostsTheStore() {
    LaunchEnvironment found = LaunchEnvironment.detect(with(WEFT, "WEFT_LAUNCHER", "weft"));
    assertThat(found.launcher()).isEqualTo("weft");
    assertThat(found.rank()).isEqualTo(1);
    assertThat(found.size()).isEqualTo(4);
    assertThat(found.localRank()).isEqualTo(OptionalInt.of(1));
    assertThat(found.localSize()).isEqualTo(OptionalInt.of(2));
    assertThat(found.job()).contains("j1");
    assertThat(found.store()).isEqualTo(new StoreLocation.Hosted("10.0.0.7", 4000));
  }

  @Test
  void variablesSetByHandMakeRankZeroHostTheStore() {
    assertThat(LaunchEnvironment.detect(WEFT).store())
        .isEqualTo(new StoreLocation.ByRankZero("10.0.0.7", 4000));
  }

  @Test
  void weftsVariablesTakePrecedence() {
    var both = with(OPEN_MPI, "WEFT_RANK", "1", "WEFT_SIZE", "2", "WEFT_LOCAL_SIZE", "2");
    assertThat(LaunchEnvironment.detect(both).launcher()).isEqualTo("weft");
  }

  @Test
  void openMpiOnOneHostUsesALocalDirectory() {
    LaunchEnvironment found = LaunchEnvironment.detect(OPEN_MPI);
    assertThat(found.launcher()).isEqualTo("Open MPI");
    assertThat(found.rank()).isEqualTo(1);
    assertThat(found.size()).isEqualTo(2);
    assertThat(found.job()).contains("pmix-3170893825");
    assertThat(found.store()).isEqualTo(new StoreLocation.LocalDirectory());
  }

  @Test
  void openMpiOnSeveralHostsNeedsAStore() {
    var several =
        with(OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE", "1", "OMPI_COMM_WORLD_LOCAL_RANK", "0");
    assertThatThrownBy(() -> LaunchEnvironment.detect(several))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("set WEFT_STORE to HOST:PORT");
    assertThat(LaunchEnvironment.detect(with(several, "WEFT_STORE", "[::1]:4000")).store())
        .isEqualTo(new StoreLocation.ByRankZero("::1", 4000));
  }

  @Test
  void hydrasVariablesAreRead() {
    LaunchEnvironment found =
        LaunchEnvironment.detect(
            Map.of(
                "PMI_RANK", "2", "PMI_SIZE", "3", "MPI_LOCALRANKID", "2", "MPI_LOCALNRANKS", "3"));
    assertThat(found.launcher()).isEqualTo("MPICH");
    assertThat(found.rank()).isEqualTo(2);
    assertThat(found.localSize()).isEqualTo(OptionalInt.of(3));
    assertThat(found.job()).isEmpty();
    assertThat(found.store()).isEqualTo(new StoreLocation.SiblingDirectory());
  }

  @Test
  void aSlurmStepIsReadAndItsFirstHostHasTheStore() {
    LaunchEnvironment found = LaunchEnvironment.detect(with(SLURM, "PMI_RANK", "5"));
    assertThat(found.launcher()).isEqualTo("Slurm");
    assertThat(found.rank()).isEqualTo(5);
    assertThat(found.size()).isEqualTo(8);
    assertThat(found.localRank()).isEqualTo(OptionalInt.of(1));
    assertThat(found.job()).contains("slurm-4711.0");
    assertThat(found.store())
        .isInstanceOfSatisfying(
            StoreLocation.ByRankZero.class,
            location -> {
              assertThat(location.host()).isEqualTo("gnode10");
              assertThat(location.port()).isBetween(29_400, 31_399);
            });
  }

  @Test
  void slurmOnOneHostUsesALocalDirectory() {
    assertThat(LaunchEnvironment.detect(with(SLURM, "SLURM_STEP_NODELIST", "gnode7")).store())
        .isEqualTo(new StoreLocation.LocalDirectory());
  }

  @Test
  void slurmVariablesOutsideAStepAreIgnored() {
    assertThat(LaunchEnvironment.detect(with(SLURM, "SLURM_STEP_ID", "")).launched()).isFalse();
  }

  @Test
  void kubernetesIndexIsTheRank() {
    LaunchEnvironment found =
        LaunchEnvironment.detect(
            Map.of(
                "JOB_COMPLETION_INDEX", "2",
                "WEFT_SIZE", "3",
                "WEFT_STORE", "train-0.train-svc:29400",
                "WEFT_JOB", "train"));
    assertThat(found.launcher()).isEqualTo("Kubernetes");
    assertThat(found.rank()).isEqualTo(2);
    assertThat(found.size()).isEqualTo(3);
    assertThat(found.store()).isEqualTo(new StoreLocation.ByRankZero("train-0.train-svc", 29_400));
  }

  @Test
  void torchrunsStoreUsesThePortAfterItsMasters() {
    LaunchEnvironment found = LaunchEnvironment.detect(TORCHRUN);
    assertThat(found.launcher()).isEqualTo("torchrun");
    assertThat(found.rank()).isEqualTo(3);
    assertThat(found.job()).contains("torch-abc@node1:29501");
    assertThat(found.store()).isEqualTo(new StoreLocation.ByRankZero("node1", 29_501));
  }

  @Test
  void jobsWithOneRunIdAreDistinguishedByOtherTorchrunVariables() {
    var alone = with(TORCHRUN, "LOCAL_WORLD_SIZE", "4", "LOCAL_RANK", "3");
    LaunchEnvironment named = LaunchEnvironment.detect(alone);
    assertThat(named.store()).isEqualTo(new StoreLocation.LocalDirectory());
    LaunchEnvironment byDefault =
        LaunchEnvironment.detect(with(alone, "TORCHELASTIC_RUN_ID", "none"));
    assertThat(byDefault.job()).contains("torch-none@node1:29501");
    assertThat(byDefault.store()).isEqualTo(new StoreLocation.SiblingDirectory());
    assertThat(
            LaunchEnvironment.detect(
                    with(alone, "TORCHELASTIC_RUN_ID", "none", "MASTER_PORT", "29600"))
                .job())
        .contains("torch-none@node1:29601");
    LaunchEnvironment agent =
        LaunchEnvironment.detect(
            with(
                alone,
                "TORCHELASTIC_RUN_ID",
                "none",
                "TORCHELASTIC_ERROR_FILE",
                "/tmp/torchelastic_x1/none_y2/attempt_0/3/error.json"));
    assertThat(agent.job().orElseThrow()).startsWith("torch-none@node1:29501#");
    assertThat(agent.store()).isEqualTo(new StoreLocation.LocalDirectory());
    var bare = with(alone, "TORCHELASTIC_RUN_ID", "", "MASTER_ADDR", "");
    assertThatThrownBy(() -> LaunchEnvironment.detect(bare)).hasMessageContaining("set WEFT_JOB");
    assertThat(LaunchEnvironment.detect(with(bare, "WEFT_JOB", "mine")).store())
        .isEqualTo(new StoreLocation.LocalDirectory());
  }

  @Test
  void torchrunInsideSlurmTasksIsTheLauncher() {
    var one = with(SLURM, "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "SLURM_LOCALID", "0");
    one.putAll(TORCHRUN);
    LaunchEnvironment found = LaunchEnvironment.detect(one);
    assertThat(found.launcher()).isEqualTo("torchrun");
    assertThat(found.rank()).isEqualTo(3);
    // Two tasks with one torchrun agent each, one rank per agent, and the ranks in another order.
    var two = with(SLURM, "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "2", "SLURM_LOCALID", "0");
    two.putAll(with(TORCHRUN, "RANK", "1", "WORLD_SIZE", "2", "LOCAL_RANK", "0"));
    assertThat(LaunchEnvironment.detect(two).rank()).isEqualTo(1);
  }

  @Test
  void anInnerLauncherOfMoreRanksIsTheLauncher() {
    var hydra = with(SLURM, "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "SLURM_LOCALID", "0");
    hydra.putAll(Map.of("PMI_RANK", "3", "PMI_SIZE", "4", "MPI_LOCALNRANKS", "4"));
    assertThat(LaunchEnvironment.detect(hydra).launcher()).isEqualTo("MPICH");
    var mpirun = with(OPEN_MPI, "OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1");
    mpirun.putAll(TORCHRUN);
    mpirun.keySet().removeIf(name -> name.contains("COMM_WORLD_LOCAL"));
    assertThat(LaunchEnvironment.detect(mpirun).launcher()).isEqualTo("torchrun");
  }

  @ParameterizedTest
  @CsvSource({
    "WEFT_RANK, 0, WEFT_SIZE, 1, Open MPI, OMPI_COMM_WORLD_RANK, 1, OMPI_COMM_WORLD_SIZE, 2",
    "RANK, 0, WORLD_SIZE, 1, Slurm, SLURM_PROCID, 3, SLURM_NTASKS, 4",
    "RANK, 1, WORLD_SIZE, 4, Slurm, SLURM_PROCID, 3, SLURM_NTASKS, 4",
    "PMI_RANK, 0, PMI_SIZE, 1, Slurm, SLURM_PROCID, 3, SLURM_NTASKS, 4",
    "RANK, 0, WORLD_SIZE, 2, Kubernetes, JOB_COMPLETION_INDEX, 1, WEFT_SIZE, 2"
  })
  void theErrorForAContradictionNamesBothSources(
      String rank,
      String one,
      String size,
      String two,
      String other,
      String otherRank,
      String three,
      String otherSize,
      String four) {
    var both = new HashMap<String, String>();
    both.putAll(Map.of(rank, one, size, two, otherRank, three, otherSize, four));
    both.put("SLURM_STEP_ID", "0");
    assertThatThrownBy(() -> LaunchEnvironment.detect(both))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(rank + " and " + size)
        .hasMessageContaining("say rank " + one + " of " + two)
        .hasMessageContaining(otherRank + " and " + otherSize + " (" + other + ")")
        .hasMessageContaining("say rank " + three + " of " + four);
  }

  @ParameterizedTest
  @CsvSource({
    "::1, 'write [::1]:PORT'",
    "::1:29400, 'write [::1:29400]:PORT'",
    "[::1], 'write [::1]:PORT'",
    "[::1]29400, HOST:PORT",
    "h:0, from 1 to 65535",
    "':29400', HOST:PORT"
  })
  void aStoreThatIsNotHostAndPortIsRefused(String store, String message) {
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(WEFT, "WEFT_STORE", store)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("WEFT_STORE is '" + store + "'")
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "WEFT_RANK, 4, WEFT_RANK is 4",
    "WEFT_RANK, -1, WEFT_RANK is '-1'",
    "WEFT_RANK, one, WEFT_RANK is 'one'",
    "WEFT_SIZE, 0, WEFT_SIZE is 0",
    "WEFT_SIZE, '', WEFT_SIZE is not set",
    "WEFT_LOCAL_RANK, 2, WEFT_LOCAL_RANK is 2",
    "WEFT_LOCAL_SIZE, 5, WEFT_LOCAL_SIZE is 5",
    "WEFT_LOCAL_SIZE, 0, WEFT_LOCAL_SIZE is 0",
    "WEFT_STORE, 10.0.0.7, WEFT_STORE is '10.0.0.7'"
  })
  void inconsistentVariableIsNamed(String variable, String value, String message) {
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(WEFT, variable, value)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "RANK, WORLD_SIZE, torchrun, MASTER_ADDR",
    "WORLD_SIZE, RANK, torchrun, MASTER_ADDR",
    "WORLD_SIZE, RANK, torchrun, JOB_COMPLETION_INDEX",
    "PMI_RANK, PMI_SIZE, MPICH, PMI_FD",
    "PMI_SIZE, PMI_RANK, MPICH, PMI_FD",
    "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, Open MPI, PMIX_RANK",
    "OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_RANK, Open MPI, PMIX_RANK",
    "SLURM_PROCID, SLURM_NTASKS, Slurm, SLURM_STEP_ID",
    "SLURM_STEP_NUM_TASKS, SLURM_PROCID, Slurm, SLURM_STEP_ID",
    "JOB_COMPLETION_INDEX, WEFT_SIZE, Kubernetes, HOSTNAME",
    "WEFT_RANK, WEFT_SIZE, weft, WEFT_STORE"
  })
  void rankWithoutSizeOrTheReverseIsRefused(
      String set, String missing, String launcher, String beside) {
    Map<String, String> half = Map.of(set, "1", beside, "1");
    assertThatThrownBy(() -> LaunchEnvironment.detect(half))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(missing + " is not set, but " + set + " is '1', and " + launcher)
        .hasMessageContaining("set " + missing + " too, or unset " + set);
    assertThat(LaunchEnvironment.outside(half)).doesNotContainKeys(set, missing);
  }

  @Test
  void anotherLaunchersSizeVariableDoesNotChangeTheLauncher() {
    // Batch scripts for PyTorch export such a variable before srun or mpirun.
    assertThat(LaunchEnvironment.detect(with(SLURM, "WORLD_SIZE", "8")).launcher())
        .isEqualTo("Slurm");
    assertThat(LaunchEnvironment.detect(with(SLURM, "PMI_SIZE", "8")).launcher())
        .isEqualTo("Slurm");
    assertThat(LaunchEnvironment.detect(with(OPEN_MPI, "WORLD_SIZE", "2")).launcher())
        .isEqualTo("Open MPI");
  }

  @ParameterizedTest
  @CsvSource({"PMI_SIZE", "PMI_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"})
  void halfOfAnOuterLauncherDoesNotHideACompleteOne(String half) {
    LaunchEnvironment found = LaunchEnvironment.detect(with(TORCHRUN, half, "1"));
    assertThat(found.launcher()).isEqualTo("torchrun");
    assertThat(found.rank()).isEqualTo(3);
    // A variable of Weft itself is set on purpose, and an unreadable one is no incomplete pair.
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(TORCHRUN, "WEFT_RANK", "1")))
        .hasMessageContaining("WEFT_SIZE is not set");
    assertThatThrownBy(
            () -> LaunchEnvironment.detect(with(TORCHRUN, "PMI_SIZE", "x", "PMI_RANK", "0")))
        .hasMessageContaining("PMI_SIZE is 'x'");
  }

  @Test
  void inconsistentForeignVariablesAreNamed() {
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(OPEN_MPI, "OMPI_COMM_WORLD_RANK", "7")))
        .hasMessageContaining("OMPI_COMM_WORLD_RANK is 7");
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(SLURM, "SLURM_STEP_NUM_TASKS", "x")))
        .hasMessageContaining("SLURM_STEP_NUM_TASKS is 'x'");
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(SLURM, "SLURM_STEP_NODELIST", "n[3-1]")))
        .hasMessageContaining("SLURM_STEP_NODELIST")
        .hasMessageContaining("backwards");
    assertThatThrownBy(() -> LaunchEnvironment.detect(Map.of("JOB_COMPLETION_INDEX", "1")))
        .hasMessageContaining("WEFT_SIZE is not set");
    assertThatThrownBy(() -> LaunchEnvironment.detect(with(TORCHRUN, "MASTER_PORT", "65535")))
        .hasMessageContaining("MASTER_PORT is 65535");
    assertThatThrownBy(() -> LaunchEnvironment.detect(Map.of("WEFT_SIZE", "2")))
        .hasMessageContaining("WEFT_RANK is not set");
  }
}
