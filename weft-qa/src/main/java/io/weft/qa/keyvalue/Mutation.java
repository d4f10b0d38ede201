// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import java.util.Locale;

/// A defect of the parameter server that the simulation must detect. It is a change of one place in
/// the source of a production class, which `MutantLoader` compiles; the production code itself has
/// no switch for it.
public enum Mutation {
  /// A server does not acknowledge every eighth push.
  LOST_ACKNOWLEDGEMENT(
      "server/PrimaryRole",
      "      it.done(told);\n",
      "      if (it.head().number() % 8 != 7) { it.done(told); }\n"),

  /// The copy of a shard ends before its last rows are sent.
  COPY_ENDS_EARLY("server/ShardCopy", "    flush();\n    return true;", "    return true;"),

  /// A worker gives the number of an acknowledged push to another push.
  REUSED_NUMBER(
      "worker/PushNumbers",
      "    last++;\n",
      "    last += open.isEmpty() && last % 8 == 7 ? 0 : 1;\n"),

  /// A server acknowledges a push before the mirror has it.
  PUSH_NOT_AWAITED(
      "server/PrimaryRole",
      "      replication.forwardPush(it, table, subject, values, why -> mirrored(it, table, why,"
          + " told));",
      "      replication.forwardPush(it, table, subject, values, why -> {});\n"
          + "      answerPush(it, told);"),

  /// The copy of a shard lacks the numbers of the received pushes.
  NUMBERS_NOT_COPIED(
      "server/ShardCopy",
      "      send(head(KvOp.WINDOW, shard, 0, 0), worker, window, window.length);\n",
      ""),

  /// A server executes a push that it has already received.
  REPEATED_PUSH("server/NumberWindow", "    return first;\n", "    return true;\n"),

  /// A worker repeats a push at another server with another number.
  REPEATED_WITH_OTHER_NUMBER(
      "worker/ServerLink",
      "    if (it.isPush() && it.number() == 0) {\n",
      "    if (it.isPush()) {\n"),

  /// A mirror does not execute every eighth push that it receives.
  MIRRORED_PUSH_DROPPED(
      "server/MirrorRole",
      "    it.done(content.pushes().push(it, table, subject, values));\n",
      """
          boolean drops = it.head().number() % 8 == 7;
          it.done(drops ? 0 : content.pushes().push(it, table, subject, values));
      """),

  /// A server forwards an insertion or removal of rows as a push.
  EDIT_MIRRORED_AS_PUSH(
      "server/ShardReplication",
      "            head.op() == KvOp.PUSH_PULL ? KvOp.PUSH : head.op(),\n",
      "            KvOp.PUSH,\n"),

  /// A server accepts a replica set that is older than its own.
  OLD_REPLICA_SET(
      "server/Shard",
      "    if (next.version() <= replicas.version()) {\n",
      "    if (next.version() == replicas.version()) {\n");

  private final String type;
  private final String before;
  private final String after;

  /// @param type the class, below `io/weft/kv`
  /// @param before a text that its source contains once
  /// @param after the text in its place
  Mutation(String type, String before, String after) {
    this.type = type;
    this.before = before;
    this.after = after;
  }

  /// Returns the path of the changed source below the sources of the module.
  String path() {
    return "io/weft/kv/" + type + ".java";
  }

  /// Returns the source with the defect. Throws `IllegalStateException` if the source does not
  /// contain the place once, because it was changed.
  String apply(String source) {
    int at = source.indexOf(before);
    if (at < 0 || source.indexOf(before, at + 1) >= 0) {
      throw new IllegalStateException(
          "%s: the source of %s does not contain this text once; change the mutation: %s"
              .formatted(this, type, before));
    }
    return source.substring(0, at) + after + source.substring(at + before.length());
  }

  /// Returns the name on the command line.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
