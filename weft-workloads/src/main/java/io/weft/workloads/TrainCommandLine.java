// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.file.NewFile;
import io.weft.telemetry.timeline.TimelineFile;
import io.weft.transport.limit.IoErrors;
import io.weft.transport.spi.TransportProvider;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.model.Activation;
import io.weft.workloads.model.EngineKind;
import io.weft.workloads.model.Hidden;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.report.Picture;
import io.weft.workloads.training.GradientExchange;
import io.weft.workloads.training.Limit;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Shares;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/// The options of `weft train` and their values. Parsing has no side effects.
final class TrainCommandLine {

  private static final String BALANCE = "--balance";
  private static final String ENLARGED = "--enlarged";
  private static final String ACTIVATION = "--activation";
  private static final String DROPOUT = "--dropout";
  private static final String MINUTES = "--minutes";
  private static final String STEPS = "--steps";
  static final String BATCH = "--batch";
  static final String BATCH_PER_RANK = "--batch-per-rank";
  private static final double MOST_MINUTES = 1_000_000;
  private static final int MOST_EPOCHS = 1_000_000;
  private static final int MOST_BATCH = 1 << 20;
  private static final int MOST_BATCH_PER_RANK = 1 << 16;
  private static final long MOST_STEPS = 1L << 40;
  private static final int MOST_THREADS = 1 << 10;

  private static final List<String> LAUNCHERS =
      List.of("-np", "-H", "-x", "--hostfile", "--bind-to", "--output-dir", "--ssh");

  private final CommandLine commandLine = new CommandLine(spec());
  private final Supplier<Optional<ConfiguredTask>> task;

  /// @param task that `TF_CONFIG` assigns to this process, read only if it matters
  TrainCommandLine(Supplier<Optional<ConfiguredTask>> task) {
    this.task = task;
  }

  /// Returns the options, all as text, because this class parses the values and words the errors.
  private static CommandSpec spec() {
    CommandSpec spec = CommandSpec.create().name("weft train");
    spec.usageMessage()
        .description("Trains one of the papers' workloads: " + Workload.names() + ".")
        .footer(
            "",
            "Example: train a digit classifier on two processes, on digits drawn at run time",
            "  weft train mnist-cnn -np 2",
            "Train on the published files, with a report",
            "  weft train mnist-cnn -np 2 --data mnist/ --json report.json",
            "A model on two parameter servers, and two workers that do not wait",
            "  weft train wide-deep --via ps --workers 2 --servers 2");
    spec.addPositional(
        PositionalParamSpec.builder()
            .paramLabel("WORKLOAD")
            .index("0..*")
            .type(List.class)
            .auxiliaryTypes(String.class)
            .description(Workload.names())
            .build());
    option(
        spec,
        "--data",
        "DIR",
        "published files, of tiny-gpt a file or directory of text; without it, embedded data");
    option(spec, ContextFlag.NAME, "N", ContextFlag.DESCRIPTION);
    option(spec, "--epochs", "E", "passes over the data");
    option(
        spec, MINUTES, "M", "end with the epoch in which M minutes have passed, for example 0.5");
    option(spec, STEPS, "N", "end after N steps");
    option(
        spec,
        BATCH,
        "B",
        "examples in a step, over all ranks; default 128, alexnet 24, tiny-gpt 16");
    option(spec, BATCH_PER_RANK, "B", "examples of each rank or worker in a step, not --batch");
    option(spec, "--lr", "R", "learning rate; the default suits workload and optimizer");
    ScaleFlag.addTo(spec);
    option(spec, "--optimizer", "O", "sgd, momentum (default), adam (of tiny-gpt), adagrad");
    option(spec, EngineFlag.NAME, "E", EngineFlag.DESCRIPTION);
    spec.addOption(
        OptionSpec.builder(ENLARGED)
            .type(boolean.class)
            .description("hidden layers of 2048 and 1024 units, of mnist-* and cifar10-*")
            .build());
    option(
        spec, ACTIVATION, "F", "relu (default) or sigmoid, in hidden dense layers of *-dnn, *-cnn");
    option(spec, DROPOUT, "P", "each step leaves out this fraction of their neurons; default 0");
    option(spec, "--seed", "S", "seed of weights, order and embedded data; default 1");
    option(spec, "--transport", "T", "auto (default) or a scheme, such as tcp");
    spec.addOption(
        OptionSpec.builder(BALANCE)
            .type(boolean.class)
            .description("shares of the batch that follow the measured speeds of the ranks")
            .build());
    option(spec, SyncFlag.NAME, "HOW", SyncFlag.DESCRIPTION);
    StepFlags.addTo(spec);
    GradientFlags.addTo(spec);
    option(spec, WeightCheckFlag.NAME, "K[,POLICY]", WeightCheckFlag.DESCRIPTION);
    ServerFlags.addTo(spec);
    option(spec, "--read", "WHO", "sharded (default): every rank reads; root: rank 0 sends");
    option(spec, "--checkpoint", "DIR", "save there after each epoch, and resume from there");
    option(spec, "--threads", "N", "computing threads of a rank; default: its share of the cores");
    option(spec, "--plot", "FILE", "draw loss, accuracy and speed to FILE.svg or FILE.png");
    option(spec, "--json", "FILE", "write the report there");
    option(spec, "--timeline", "DIR", "each rank leaves its timeline there; see weft trace");
    spec.addOption(
        OptionSpec.builder("-h", "--help").usageHelp(true).description("show this").build());
    return spec;
  }

  static void option(CommandSpec spec, String name, String label, String description) {
    spec.addOption(
        OptionSpec.builder(name)
            .paramLabel(label)
            .type(String.class)
            .description(description)
            .build());
  }

  /// Returns the help text.
  String usage() {
    return commandLine.getUsageMessage(CommandLine.Help.Ansi.OFF);
  }

  /// Parses a command line; empty if it requests help. Throws `BadOption`.
  Optional<TrainOptions> parse(List<String> arguments) {
    ParseResult parsed;
    try {
      parsed = commandLine.parseArgs(arguments.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new BadOption(e.getMessage() + meant(e) + "; 'weft train --help' lists the options");
    }
    return parsed.isUsageHelpRequested() ? Optional.empty() : Optional.of(options(parsed));
  }

  /// Returns a suggestion of an option of this tool or of the launcher, which passes on options
  /// that it does not know.
  private String meant(CommandLine.ParameterException wrong) {
    if (!(wrong instanceof CommandLine.UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return "";
    }
    var names = new ArrayList<>(commandLine.getCommandSpec().optionsMap().keySet());
    OptionProvider.all().forEach(option -> names.add(option.flag()));
    names.addAll(LAUNCHERS);
    String word = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
    return ConfigOption.nearest(word, names).map(n -> "; did you mean " + n + "?").orElse("");
  }

  private TrainOptions options(ParseResult parsed) {
    Workload workload = workload(parsed);
    OptimizerKind optimizer =
        choice(parsed, "--optimizer", OptimizerKind.values(), workload.defaultOptimizer());
    Optional<ConfiguredTask> configured = ServerFlags.asked(parsed) ? task.get() : Optional.empty();
    Optional<Servers> servers = ServerFlags.servers(parsed, configured);
    ServerFlags.requireFits(servers, workload);
    Optional<String> transport = text(parsed, "--transport");
    if (transport.isPresent()) {
      requireOneOf(parsed, "--transport", schemes());
    }
    Limit limit = limit(parsed, servers.isPresent());
    OptionalInt batchPerRank =
        ScaleFlag.batchPerRank(parsed, batchPerRank(parsed), workload.defaultBatch());
    if (batchPerRank.isPresent()) {
      int each = batchPerRank.getAsInt();
      batchPerRank = OptionalInt.of(StepFlags.examples(parsed, each, MOST_BATCH_PER_RANK));
    }
    long seed = whole(parsed, "--seed", 1, 0, Long.MAX_VALUE);
    TrainingSettings settings =
        new TrainingSettings(
            workload,
            epochs(parsed, limit.isPresent() ? MOST_EPOCHS : workload.defaultEpochs()),
            batchPerRank.orElse(batch(parsed, workload)),
            rate(parsed, workload.defaultRate(optimizer)),
            optimizer,
            seed,
            servers.isPresent()
                ? ServerFlags.sync(parsed)
                : SyncFlag.parse(text(parsed, SyncFlag.NAME)),
            choice(parsed, "--read", ReadMode.values(), ReadMode.SHARDED),
            path(parsed, "--checkpoint"),
            WeightCheckFlag.parse(text(parsed, WeightCheckFlag.NAME)),
            StepFlags.in(parsed, GradientFlags.parse(parsed, System.getenv())),
            hidden(parsed, workload, servers.isPresent()),
            parsed.hasMatchedOption(BALANCE) ? Shares.BALANCED : Shares.EQUAL,
            limit,
            choice(parsed, EngineFlag.NAME, EngineKind.values(), workload.defaultEngine()),
            ScaleFlag.parse(parsed));
    StepFlags.requireFits(settings, servers.isPresent());
    EngineFlag.requireFits(settings, servers);
    WeightCheckFlag.requireFits(settings, servers.isPresent());
    GradientFlags.requireFits(settings, servers.isPresent());
    ScaleFlag.requireFits(settings, servers.isPresent());
    requireBalanced(settings, servers.isPresent());
    Optional<Path> data = path(parsed, "--data");
    DataSource source =
        ContextFlag.source(parsed, workload, data, seed)
            .or(() -> data.map(directory -> files(workload, directory)))
            .orElseGet(() -> workload.embedded(seed));
    return new TrainOptions(
        settings,
        batchPerRank,
        servers,
        configured,
        source,
        transport,
        GradientFlags.threads(settings, threads(parsed)),
        new TrainOptions.Outputs(
            plot(parsed),
            output(parsed, "--json"),
            directory(parsed, "--timeline"),
            autotuneLog(parsed, settings)));
  }

  private static void requireBalanced(TrainingSettings settings, boolean servers) {
    boolean averages =
        settings.sync() instanceof Sync.Gradients
            && settings.exchange() instanceof GradientExchange.Averaged;
    if (settings.shares() == Shares.BALANCED && (servers || !averages)) {
      throw new BadOption(
          BALANCE
              + ": expected it only with --sync gradients and --via allreduce, without --autotune,"
              + " --optimizer-shares and --reproducible");
    }
  }

  private static int epochs(ParseResult parsed, int otherwise) {
    return (int) whole(parsed, "--epochs", otherwise, 1, MOST_EPOCHS);
  }

  private static int batch(ParseResult parsed, Workload workload) {
    int batch = (int) whole(parsed, BATCH, workload.defaultBatch(), 1, MOST_BATCH);
    return StepFlags.examples(parsed, batch, MOST_BATCH);
  }

  private static OptionalInt batchPerRank(ParseResult parsed) {
    Optional<String> text = text(parsed, BATCH_PER_RANK);
    if (text.isEmpty()) {
      return OptionalInt.empty();
    }
    if (text(parsed, BATCH).isPresent()) {
      throw BadOption.of(BATCH_PER_RANK, text.get(), "it without " + BATCH);
    }
    return OptionalInt.of((int) whole(parsed, BATCH_PER_RANK, 1, 1, MOST_BATCH_PER_RANK));
  }

  private static Limit limit(ParseResult parsed, boolean servers) {
    for (String option : List.of(MINUTES, STEPS)) {
      if (servers && text(parsed, option).isPresent()) {
        throw BadOption.of(option, text(parsed, option).orElse(""), "no --via with it");
      }
    }
    return new Limit(
        minutes(parsed),
        text(parsed, STEPS).isEmpty()
            ? OptionalLong.empty()
            : OptionalLong.of(whole(parsed, STEPS, 1, 1, MOST_STEPS)));
  }

  private static Optional<Duration> minutes(ParseResult parsed) {
    Optional<String> text = text(parsed, MINUTES);
    try {
      Optional<Double> minutes = text.map(Double::parseDouble);
      if (minutes.isEmpty() || (minutes.get() > 0 && minutes.get() <= MOST_MINUTES)) {
        return minutes.map(each -> Duration.ofMillis(Math.max(1, Math.round(each * 60_000))));
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of(MINUTES, text.orElse(""), "a number above 0 and at most 1000000");
  }

  private static Hidden hidden(ParseResult parsed, Workload workload, boolean servers) {
    for (String option : List.of(ACTIVATION, DROPOUT)) {
      if (parsed.hasMatchedOption(option) && !workload.isFullyConnected()) {
        throw new BadOption(
            option + " with " + workload.title() + ": only *-dnn and *-cnn take it");
      }
    }
    float dropout = dropout(parsed);
    if (dropout > 0 && servers) {
      throw BadOption.of(DROPOUT, "" + dropout, "no --via weft, grpc or ps with it");
    }
    return sized(parsed, workload)
        .with(choice(parsed, ACTIVATION, Activation.values(), Activation.RELU))
        .with(dropout);
  }

  private static float dropout(ParseResult parsed) {
    Optional<String> text = text(parsed, DROPOUT);
    try {
      float dropout = text.map(Float::parseFloat).orElse(0f);
      if (dropout >= 0 && dropout < 1) {
        return dropout;
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of(DROPOUT, text.orElse(""), "a number from 0 to below 1");
  }

  private static Hidden sized(ParseResult parsed, Workload workload) {
    if (!parsed.hasMatchedOption(ENLARGED)) {
      return Hidden.STANDARD;
    }
    if (!workload.isEnlargeable()) {
      throw new BadOption(
          ENLARGED + " with " + workload.title() + ": only mnist-* and cifar10-* can be enlarged");
    }
    return Hidden.ENLARGED;
  }

  private static Workload workload(ParseResult parsed) {
    List<String> names =
        parsed.matchedPositionals().isEmpty()
            ? List.of()
            : parsed.matchedPositionals().getFirst().stringValues();
    if (names.size() != 1) {
      throw new BadOption(
          "expected one workload, got " + names + "; the workloads are " + Workload.names());
    }
    return Workload.named(names.getFirst())
        .orElseThrow(
            () ->
                new BadOption(
                    "no workload '"
                        + names.getFirst()
                        + "'; the workloads are "
                        + Workload.names()));
  }

  private static DataSource files(Workload workload, Path directory) {
    return workload
        .files(directory)
        .orElseThrow(
            () ->
                BadOption.of(
                    "--data",
                    directory.toString(),
                    "nothing: " + workload.title() + " trains on data drawn at run time"));
  }

  private static OptionalInt threads(ParseResult parsed) {
    return text(parsed, "--threads").isEmpty()
        ? OptionalInt.empty()
        : OptionalInt.of((int) whole(parsed, "--threads", 1, 1, MOST_THREADS));
  }

  private static List<String> schemes() {
    Stream<String> found = TransportProvider.all().stream().map(TransportProvider::scheme).sorted();
    return Stream.concat(Stream.of("auto"), found).distinct().toList();
  }

  private static Optional<Path> plot(ParseResult parsed) {
    Optional<Path> plot = output(parsed, "--plot");
    if (plot.isPresent() && plot.equals(path(parsed, "--json"))) {
      throw BadOption.of("--plot", plot.get().toString(), "another file than that of --json");
    }
    if (plot.isPresent() && !Picture.knows(plot.get())) {
      throw BadOption.of("--plot", plot.get().toString(), "a name that ends in .svg or .png");
    }
    return plot;
  }

  private static Optional<Path> autotuneLog(ParseResult parsed, TrainingSettings settings) {
    Optional<Path> log = output(parsed, GradientFlags.AUTOTUNE_LOG);
    boolean tuned = settings.exchange() instanceof GradientExchange.Tuned;
    if (log.isPresent() && !tuned) {
      throw BadOption.of(
          GradientFlags.AUTOTUNE_LOG, log.get().toString(), GradientFlags.AUTOTUNE + " with it");
    }
    return log.isPresent() || !tuned
        ? log
        : Optional.ofNullable(System.getenv("HOROVOD_AUTOTUNE_LOG")).map(Path::of);
  }

  /// Returns a directory that is writable or can be created. Throws `BadOption`.
  static Optional<Path> directory(ParseResult parsed, String option) {
    Optional<Path> directory = path(parsed, option);
    if (directory.isPresent()) {
      try {
        TimelineFile.check(directory.get());
      } catch (IOException refused) {
        throw BadOption.of(
            option,
            directory.get().toString(),
            "a directory that can be written or made (" + IoErrors.words(refused) + ")");
      }
    }
    return directory;
  }

  /// Returns a file that can be written when training is done.
  private static Optional<Path> output(ParseResult parsed, String option) {
    Optional<Path> file = path(parsed, option);
    if (text(parsed, option).filter("-"::equals).isPresent()) {
      throw BadOption.of(option, "-", "the name of a file; '-' is not taken for standard output");
    }
    Optional<String> obstacle = file.flatMap(NewFile::obstacle);
    if (obstacle.isPresent()) {
      throw new BadOption(
          option + ": cannot write " + file.orElseThrow() + ": " + obstacle.orElseThrow());
    }
    return file;
  }

  private static Optional<Path> path(ParseResult parsed, String option) {
    return text(parsed, option)
        .map(
            text -> {
              try {
                return Path.of(text);
              } catch (IllegalArgumentException e) {
                throw BadOption.of(option, text, "a path");
              }
            });
  }

  private static float rate(ParseResult parsed, float otherwise) {
    Optional<String> text = text(parsed, "--lr");
    try {
      float rate = text.map(Float::parseFloat).orElse(otherwise);
      if (rate > 0 && rate <= 1000) {
        return rate;
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of("--lr", text.orElse(""), "a number above 0 and at most 1000");
  }

  static long whole(ParseResult parsed, String option, long otherwise, long least, long most) {
    Optional<String> text = text(parsed, option);
    try {
      long value = text.map(Long::parseLong).orElse(otherwise);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // A malformed number is reported below, like a number out of range.
    }
    throw BadOption.of(option, text.orElse(""), "a whole number from " + least + " to " + most);
  }

  static <E extends Enum<E>> E choice(ParseResult parsed, String option, E[] values, E otherwise) {
    Optional<String> text = text(parsed, option);
    if (text.isEmpty()) {
      return otherwise;
    }
    return Arrays.stream(values)
        .filter(value -> value.toString().equals(text.get()))
        .findFirst()
        .orElseThrow(
            () ->
                BadOption.of(
                    option,
                    text.get(),
                    Arrays.stream(values)
                        .map(value -> value.toString().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", "))));
  }

  static void requireOneOf(ParseResult parsed, String option, List<String> allowed) {
    Optional<String> text = text(parsed, option);
    if (text.isPresent() && !allowed.contains(text.get())) {
      throw BadOption.of(option, text.get(), String.join(" or ", allowed));
    }
  }

  static Optional<String> text(ParseResult parsed, String option) {
    return Optional.ofNullable(parsed.matchedOptionValue(option, (String) null));
  }
}
