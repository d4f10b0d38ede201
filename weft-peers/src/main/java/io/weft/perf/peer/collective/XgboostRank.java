// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer.collective;

import io.weft.perf.rank.Tiles;
import io.weft.perf.rank.TimedCall;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import ml.dmlc.xgboost4j.java.Communicator;
import ml.dmlc.xgboost4j.java.RabitTracker;
import ml.dmlc.xgboost4j.java.XGBoostError;

/// XGBoost4J's collective, by which its trainings sum histograms: arrays of Java's heap, in and out
/// of a direct buffer of each call.
public final class XgboostRank implements CollectiveLibrary {

  private static final String LOOPBACK = "127.0.0.1";

  private XgboostRank() {}

  /// Runs one rank.
  public static void main(String[] words) {
    CollectiveProgram.exit(words, XgboostRank.class, new XgboostRank());
  }

  private static IllegalStateException failed(XGBoostError e) {
    return new IllegalStateException("XGBoost4J: " + e.getMessage(), e);
  }

  @Override
  public String load() {
    Properties properties = new Properties();
    try (InputStream in = Communicator.class.getResourceAsStream("/xgboost4j-version.properties")) {
      if (in != null) {
        properties.load(in);
      }
      // Starts its native library, too.
      new RabitTracker(1, LOOPBACK).stop();
    } catch (IOException e) {
      throw new IllegalStateException("cannot read the version of XGBoost4J", e);
    } catch (XGBoostError e) {
      throw failed(e);
    }
    return "xgboost " + properties.getProperty("version", "");
  }

  @Override
  public MeetingPlace open(int ranks) {
    try {
      return new Tracker(new RabitTracker(ranks, LOOPBACK));
    } catch (XGBoostError e) {
      throw failed(e);
    }
  }

  @Override
  public CollectiveRank join(int rank, int ranks, String place) {
    Map<String, Object> settings = new HashMap<>();
    for (String setting : place.split(",", -1)) {
      String[] words = setting.split("=", 2);
      Object value = words[1].matches("\\d{1,9}") ? (Object) Integer.valueOf(words[1]) : words[1];
      settings.put(words[0], value);
    }
    settings.put("dmlc_task_id", Integer.toString(rank));
    try {
      Communicator.init(settings);
      return new Rank(rank, ranks);
    } catch (XGBoostError e) {
      throw failed(e);
    }
  }

  /// The tracker, whose words are the settings of the ranks: `NAME=VALUE,...`.
  private static final class Tracker implements MeetingPlace {

    private final RabitTracker tracker;
    private final String words;

    private Tracker(RabitTracker tracker) throws XGBoostError {
      this.tracker = tracker;
      if (!tracker.start()) {
        throw new IllegalStateException("XGBoost4J's tracker does not start");
      }
      this.words =
          tracker.getWorkerArgs().entrySet().stream()
              .map(setting -> setting.getKey() + "=" + setting.getValue())
              .collect(Collectors.joining(","));
    }

    @Override
    public String words() {
      return words;
    }

    @Override
    public void close() {
      try {
        tracker.stop();
      } catch (XGBoostError e) {
        throw failed(e);
      }
    }
  }

  /// One rank. `largest` rounds to 24 bits, because the collective's only element type is float32.
  private record Rank(int rank, int size) implements CollectiveRank {

    @Override
    public void barrier() {
      float[] unused = Communicator.allReduce(new float[1], Communicator.OpType.MAX);
    }

    @Override
    public void largest(long[] counts) {
      float[] values = new float[counts.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = counts[i];
      }
      float[] maxima = Communicator.allReduce(values, Communicator.OpType.MAX);
      for (int i = 0; i < maxima.length; i++) {
        counts[i] = (long) maxima[i];
      }
    }

    @Override
    public TimedCall allreduce(int elements) {
      return new Sum(this, new float[elements]);
    }

    @Override
    public void close() {
      try {
        Communicator.shutdown();
      } catch (XGBoostError e) {
        throw failed(e);
      }
    }
  }

  /// The sum of one array per rank.
  private static final class Sum implements TimedCall {

    private final Arena arena = Arena.ofConfined();
    private final Rank group;
    private final float[] input;
    private final int sumOfScales;
    private final Tiles tiles;
    private float[] sum = {};

    private Sum(Rank group, float[] input) {
      this.group = group;
      this.input = input;
      this.sumOfScales = group.size() * (group.size() + 1) / 2;
      this.tiles = new Tiles(arena, sumOfScales);
    }

    @Override
    public void fill(long t) {
      tiles.fill(MemorySegment.ofArray(input), group.rank() + 1, t);
    }

    @Override
    public void call() {
      sum = Communicator.allReduce(input, Communicator.OpType.SUM);
    }

    @Override
    public boolean right(long t) {
      MemorySegment result = MemorySegment.ofArray(sum);
      long bytes = (long) input.length * Float.BYTES;
      return result.byteSize() == bytes && tiles.same(result, 0, bytes, sumOfScales, t);
    }

    @Override
    public void close() {
      arena.close();
    }
  }
}
