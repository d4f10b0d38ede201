// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.fault.SmallDisk;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrainToolTest {

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void theToolIsFoundByItsName() {
    assertThat(ToolProvider.findFirst("weft-train")).get().isInstanceOf(TrainTool.class);
  }

  @Test
  void theWorkloadsAreListed() {
    assertThat(run("--list")).isZero();
    assertThat(out.toString().lines())
        .hasSize(10)
        .anyMatch(l -> l.startsWith("mnist-dnn "))
        .anyMatch(l -> l.startsWith("mnist-cnn "))
        .anyMatch(l -> l.startsWith("adult-dnn "));
  }

  @Test
  void helpShowsOptionsAndAnExample() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("--checkpoint").contains("weft train mnist-cnn -np 2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''                          | expected one workload",
        "mnist-rnn                   | no workload 'mnist-rnn'; the workloads are mnist-dnn",
        "mnist-dnn adult-dnn         | expected one workload, got [mnist-dnn, adult-dnn]",
        "mnist-dnn --epochs 0        | --epochs 0: expected a whole number from 1",
        "mnist-dnn --epochs x        | --epochs x: expected a whole number from 1",
        "mnist-dnn --epochs          | Missing required parameter for option '--epochs'",
        "mnist-dnn --batch 0         | --batch 0: expected a whole number from 1",
        "mnist-dnn --threads 0      | --threads 0: expected a whole number from 1",
        "mnist-dnn --lr -1           | --lr -1: expected a number above 0",
        "mnist-dnn --lr NaN          | --lr NaN: expected a number above 0",
        "mnist-dnn --seed -3         | --seed -3: expected a whole number from 0",
        "mnist-dnn --optimizer lamb  | --optimizer lamb: expected sgd, momentum, adam, adagrad",
        "mnist-dnn --engine torch    | --engine torch: expected tensorflow, djl",
        "adult-dnn --engine djl      | --engine djl: expected mnist-dnn, mnist-cnn, cifar10-dnn,"
            + " cifar10-cnn, tiny-gpt with it, not adult-dnn",
        "tiny-gpt --engine tensorflow | tensorflow: expected mnist-dnn, mnist-cnn, cifar10-dnn,",
        "mnist-dnn --engine djl --sync weights:4 | --engine djl: expected --sync gradients or"
            + " local:H, not weights:4",
        "tiny-gpt --context 4        | --context 4: expected a whole number from 8 to 1024",
        "tiny-gpt --context 2000     | --context 2000: expected a whole number from 8 to 1024",
        "mnist-dnn --context 64      | --context 64: expected tiny-gpt with it, not mnist-dnn",
        "mnist-dnn --engine djl --via weft | --engine djl: expected --via allreduce or ps, not"
            + " weft",
        "mnist-dnn --engine djl --compression int8 | --engine djl: expected no --compression with",
        "mnist-dnn --engine djl --checkpoint c | --engine djl: expected no --checkpoint with it",
        "mnist-dnn --engine djl --optimizer adagrad | --engine djl: expected --optimizer sgd,"
            + " momentum or adam, not adagrad",
        "mnist-dnn --engine djl --check-weights 5 | --engine djl: expected no --check-weights with",
        "mnist-dnn --engine djl --balance | --engine djl: expected no --balance with it",
        "mnist-dnn --engine djl --dropout 0.5 | --engine djl: expected no --dropout with it",
        "mnist-dnn --sync weights:0  | --sync weights:0: expected gradients, weights:K",
        "mnist-dnn --sync async      | --sync async: expected gradients, weights:K",
        "mnist-dnn --sync local:0    | --sync local:0: expected gradients, weights:K",
        "mnist-dnn --sync local:4,bits=5 | 5 bits of an element; 32, 8 or 4 are possible",
        "mnist-dnn --sync local:4,fragments=9 | 9 fragments with an exchange every 4 steps",
        "mnist-dnn --sync local:4,bits=8,bits=4 | expected gradients, weights:K",
        "mnist-dnn --sync local:4,speed=3 | expected gradients, weights:K",
        "mnist-dnn --check-weights 0 | --check-weights 0: expected K, K,warn, K,stop or K,heal",
        "mnist-dnn --check-weights 5,mend | expected K, K,warn, K,stop or K,heal",
        "mnist-dnn --check-weights 5 --sync local:9 | --check-weights 5,warn: expected it only"
            + " with",
        "mnist-dnn --check-weights 5 --via weft | --check-weights 5,warn: expected it only with",
        "mnist-dnn --compression zip | --compression zip: expected none, fp16, bf16, int8, int4, or"
            + " topk:RATIO",
        "mnist-dnn --compression topk:2 | --compression topk:2: expected none, fp16",
        "mnist-dnn --compression int8 --sync local:9 | --compression int8: expected it only with"
            + " --sync gradients",
        "mnist-dnn --compression int8 --via weft | --compression int8: expected it only with",
        "mnist-dnn --reproducible rows | --reproducible rows: expected shards, or shards:N with N a"
            + " power of two from 1 to 1024",
        "mnist-dnn --reproducible shards:6 | --reproducible shards:6: expected shards, or shards:N",
        "mnist-dnn --reproducible=shards:2048 | --reproducible shards:2048: expected shards, or",
        "mnist-dnn --reproducible --sync weights:3 | --reproducible shards:8: expected it only"
            + " with",
        "mnist-dnn --reproducible --compression int8 | --compression int8: expected none with"
            + " --reproducible",
        "mnist-dnn --autotune --sync weights:3 | --autotune on: expected it only with",
        "mnist-dnn --autotune --compression int8 | --compression int8: expected none with"
            + " --autotune",
        "mnist-dnn --autotune --reproducible | --reproducible shards:8: expected it without"
            + " --autotune",
        "mnist-dnn --autotune --optimizer-shares | --optimizer-shares on: expected it without"
            + " --autotune",
        "mnist-dnn --optimizer-shares --compression fp16 | --compression fp16: expected none with"
            + " --optimizer-shares",
        "mnist-dnn --optimizer-shares --reproducible | --reproducible shards:8: expected it without"
            + " --optimizer-shares",
        "mnist-dnn --optimizer-shares --sync weights:3 | --optimizer-shares on: expected it only"
            + " with --sync gradients",
        "mnist-dnn --accumulate 0    | --accumulate 0: expected a whole number from 1 to 1024",
        "mnist-dnn --batch 60000 --accumulate 1000 | --accumulate 1000: expected at most 17 batches"
            + " of 60000",
        "mnist-dnn --clip 0          | --clip 0: expected a number above 0 and at most 1e30",
        "mnist-dnn --clip long       | --clip long: expected a number above 0",
        "mnist-dnn --accumulate 2 --via ps | --accumulate 2: expected it only with --sync"
            + " gradients and --via allreduce",
        "tiny-gpt --accumulate 2 --sync local:4 | --accumulate 2: expected it only with --sync",
        "tiny-gpt --clip 1 --sync local:4 | --clip 1.0: expected it only with --sync gradients",
        "mnist-dnn --clip 1 --via weft | --clip 1.0: expected it only with --sync gradients",
        "mnist-dnn --clip 1 --autotune | --clip 1: expected it without --autotune",
        "mnist-dnn --accumulate 2 --reproducible | --accumulate 2: expected it without"
            + " --reproducible",
        "mnist-dnn --accumulate 2 --optimizer-shares | --accumulate 2: expected it without"
            + " --optimizer-shares",
        "mnist-dnn --accumulate 2 --balance | --accumulate 2: expected it without --balance",
        "mnist-dnn --autotune-log f.csv | --autotune-log f.csv: expected --autotune with it",
        "mnist-dnn --autotune-store kept | --autotune-store kept: expected --autotune with it",
        "mnist-dnn --autotune --autotune-store /proc/self/status/kept | --autotune-store",
        "mnist-dnn --via pigeon      | --via pigeon: expected allreduce, weft, grpc or ps",
        "wide-deep --via ps --sync async | --sync async: expected --staleness with --via ps",
        "wide-deep --via ps --staleness -1 | --staleness -1: expected async or a whole number from",
        "wide-deep --via weft --staleness 1 | --staleness 1: expected --via ps with it",
        "wide-deep --enlarged        | --enlarged with wide-deep: only mnist-* and cifar10-*",
        "mnist-dnn --via ps --dense allreduce | --dense allreduce: expected servers with mnist-dnn;"
            + " allreduce",
        "wide-deep --staleness 1     | --staleness 1: expected --via ps with it",
        "wide-deep --via ps --dense x | --dense x: expected servers, allreduce",
        "wide-deep --via ps --backup 1 --workers 2 | --backup 1: expected --staleness with",
        "mnist-dnn --activation tanh | --activation tanh: expected relu, sigmoid",
        "alexnet --activation sigmoid | --activation with alexnet: only *-dnn and *-cnn take it",
        "mnist-dnn --dropout 1       | --dropout 1: expected a number from 0 to below 1",
        "mnist-dnn --dropout half    | --dropout half: expected a number from 0 to below 1",
        "wide-deep --dropout 0.5     | --dropout with wide-deep: only *-dnn and *-cnn take it",
        "mnist-dnn --dropout 0.5 --via ps | --dropout 0.5: expected no --via",
        "mnist-dnn --steps 0         | --steps 0: expected a whole number from 1",
        "mnist-dnn --steps 5 --via ps | --steps 5: expected no --via with it",
        "mnist-dnn --batch-per-rank 0 | --batch-per-rank 0: expected a whole number from 1",
        "mnist-dnn --batch-per-rank 8 --batch 9 | --batch-per-rank 8: expected it without --batch",
        "mnist-dnn --balance --sync weights:3 | --balance: expected it only with --sync gradients",
        "mnist-dnn --balance --reproducible | --balance: expected it only with --sync gradients",
        "mnist-dnn --balance --via weft | --balance: expected it only with --sync gradients",
        "mnist-dnn --scale-lr --batch 64 | --scale-lr: expected --batch-per-rank B with it, not"
            + " --batch",
        "mnist-dnn --scale-lr --via ps | --scale-lr: expected --via allreduce with it",
        "mnist-dnn --scale-lr --sync weights:3 | --scale-lr: expected --sync gradients with it, not"
            + " weights:3",
        "mnist-dnn --scale-lr --optimizer adam | --scale-lr: expected --optimizer sgd or momentum",
        "mnist-dnn --warmup-epochs 1 | --warmup-epochs 1: expected --scale-lr with it",
        "mnist-dnn --warmup-steps 1  | --warmup-steps 1: expected --scale-lr with it",
        "mnist-dnn --scale-lr --warmup-epochs -1 | --warmup-epochs -1: expected a number from 0 to",
        "mnist-dnn --scale-lr --warmup-epochs NaN | --warmup-epochs NaN: expected a number from 0",
        "mnist-dnn --scale-lr --warmup-steps x | --warmup-steps x: expected a whole number from 0",
        "mnist-dnn --scale-lr --warmup-steps 9 --warmup-epochs 1 | --warmup-epochs 1: expected it"
            + " without --warmup-steps",
        "mnist-dnn --read all        | --read all: expected root, sharded",
        "mnist-dnn --transport pigeon| --transport pigeon: expected auto or ",
        "mnist-dnn --plot p.gif      | --plot p.gif: expected a name that ends in .svg or .png",
        "mnist-dnn --json /nowhere/x | --json: cannot write /nowhere/x: there is no directory"
            + " /nowhere",
        "mnist-dnn --frobnicate      | Unknown option: '--frobnicate'",
        "mnist-dnn --timeline /dev/null/t | --timeline /dev/null/t: expected a directory that can",
      })
  void wrongOptionsAreNamedWithTheAllowedValues(String line, String message) {
    assertThat(run(("--validate " + line).strip().split(" +"))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aGoodCommandLineIsValidAndStartsNothing() {
    assertThat(run("--validate", "mnist-cnn", "--epochs", "3", "--read", "root")).isZero();
    assertThat(out + "" + err).isEmpty();
  }

  @Test
  void missingDataIsExitThree() {
    assertThat(run("--validate", "mnist-dnn", "--data", directory.resolve("no").toString()))
        .isEqualTo(3);
    assertThat(err.toString()).contains("no directory").contains("https://");
  }

  @Test
  void malformedDataIsExitTwo() throws IOException {
    for (String name :
        new String[] {
          "train-images-idx3-ubyte",
          "train-labels-idx1-ubyte",
          "t10k-images-idx3-ubyte",
          "t10k-labels-idx1-ubyte"
        }) {
      Files.writeString(directory.resolve(name), "<html>404 not found</html>");
    }
    assertThat(run("--validate", "mnist-dnn", "--data", directory.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("expected IDX magic number").doesNotContain("\tat ");
    assertThat(run("mnist-dnn", "--data", directory.toString())).isEqualTo(2);
  }

  @Test
  void malformedNumbersAreExitTwo() throws IOException {
    String line = "1.0" + ",0.5".repeat(28) + "\n";
    Path higgs = directory.resolve("HIGGS.csv");
    for (String wrong : new String[] {"2" + line.substring(3), line.replace("0.5", "nan"), "1,2"}) {
      Files.writeString(higgs, line.repeat(50) + wrong);
      assertThat(run("higgs-dnn", "--data", directory.toString())).isEqualTo(2);
      assertThat(err.toString()).contains("in line 51, found").doesNotContain("\tat ");
      Files.writeString(higgs, wrong);
      assertThat(run("--validate", "higgs-dnn", "--data", directory.toString())).isEqualTo(2);
    }
    Files.writeString(higgs, "");
    assertThat(run("--validate", "higgs-dnn", "--data", directory.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("found an empty file");
  }

  @Test
  void oneRankTrainsAndReports() throws IOException {
    Path json = directory.resolve("report.json");
    Path plot = directory.resolve("run.svg");
    int code =
        run("adult-dnn", "--epochs", "1", "--json", json.toString(), "--plot", plot.toString());
    assertThat(code).as("%s", err).isZero();
    assertThat(out.toString()).startsWith("adult-dnn on 1 rank, synthetic census, 1 epoch");
    assertThat(err.toString()).contains("epoch 1/1 done");
    assertThat(Files.readString(json)).contains("\"weightsDigest\"");
    assertThat(plot).isNotEmptyFile();
  }

  @Test
  void aScaledRateIsReported() throws IOException {
    Path json = directory.resolve("report.json");
    String[] line = "adult-dnn --epochs 1 --lr 0.03 --scale-lr --warmup-steps 7".split(" ");
    String[] all = Arrays.copyOf(line, line.length + 2);
    all[line.length] = "--json";
    all[line.length + 1] = json.toString();
    assertThat(run(all)).as("%s", err).isZero();
    assertThat(out.toString()).contains("rate           0.03 of all ranks, after a warm-up of 7");
    assertThat(Files.readString(json))
        .contains("\"learningRate\" : 0.03,")
        .contains("\"warmupSteps\" : 7,");
    assertThat(run("adult-dnn", "--epochs", "1", "--scale-lr", "--warmup-epochs", "2"))
        .isEqualTo(2);
    assertThat(err.toString()).contains("would warm up over").contains("less than 2.0 epochs");
  }

  @Test
  void aFullDiskLosesReportAndPictureButNotTheSummary() throws IOException {
    Path mount = Files.createDirectory(directory.resolve("disk"));
    Optional<SmallDisk> mounted = SmallDisk.on(mount, 8);
    assumeTrue(mounted.isPresent(), "this process may not mount a file system");
    try (SmallDisk full = mounted.get()) {
      Path disk = full.directory();
      Files.write(disk.resolve("filling"), new byte[8192]);
      Path json = disk.resolve("report.json");
      Path plot = disk.resolve("run.svg");
      Path left = disk.resolve(".report.json.0123456789abcdef-0123456789abcdef.tmp");
      Files.createFile(left);
      int code =
          run(
              "adult-dnn",
              "--epochs",
              "1",
              "--json",
              json.toString(),
              "--plot",
              plot.toString(),
              "--checkpoint",
              disk.toString());
      assertThat(code).as("%s", err).isEqualTo(1);
      assertThat(out.toString()).contains("test accuracy").contains("weights        SHA-256");
      assertThat(err.toString())
          .contains("checkpoint " + disk.resolve("epoch-00001.weft") + " cannot be written")
          .contains("weft train: training is done, but not all checkpoints could be written")
          .contains("--json " + json + " cannot be written: ")
          .contains("--plot " + plot + " cannot be written: ")
          .contains("No space left on device")
          .doesNotContain("\tat ");
      try (var files = Files.list(disk)) {
        assertThat(files.map(file -> file.getFileName().toString())).containsExactly("filling");
      }
    }
  }

  private int run(String... arguments) {
    return new TrainTool().run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
