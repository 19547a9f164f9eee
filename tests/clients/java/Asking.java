import java.sql.Array;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.postgresql.PGStatement;

/** Asking with prepared statements, arrays, batches, cursors, and in transactions. */
final class Asking {
    private static final String CLARIFY =
            "select * from pgclarify.clarify(?, corpus => ?, top_k => ?, timeout => ?::interval, options => ?::jsonb)"
                    + " order by ordinal";

    private Asking() {}

    static void addTo(Map<String, Check.Topic> topics) {
        topics.put("parameters and columns", Asking::parametersAndColumns);
        topics.put("times have zones", Asking::timesHaveZones);
        topics.put("prepared by the server", Asking::preparedByTheServer);
        topics.put("arrays", Asking::arrays);
        topics.put("a table of one's own", Asking::tableOfOnesOwn);
        topics.put("batches", Asking::batches);
        topics.put("rows by portions", Asking::rowsByPortions);
        topics.put("submitted in a transaction", Asking::submittedInTransaction);
        topics.put("called as a procedure", Asking::calledAsProcedure);
        topics.put("read only", Asking::readOnly);
    }

    private static PreparedStatement clarify(Connection connection, String question) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(CLARIFY);
        statement.setString(1, question);
        statement.setNull(2, Types.VARCHAR);
        statement.setInt(3, 6);
        statement.setString(4, "1 minute");
        statement.setString(5, "{\"method\": \"hybrid\"}");
        return statement;
    }

    private static List<String> answers(PreparedStatement statement) throws SQLException {
        List<String> answers = new ArrayList<>();
        try (ResultSet reading = statement.executeQuery()) {
            while (reading.next()) {
                answers.add(reading.getString("answer"));
            }
        }
        return answers;
    }

    private static void parametersAndColumns() throws SQLException {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = clarify(connection, "columns");
                ResultSet reading = statement.executeQuery()) {
            Check.that(reading.next(), "no reading");
            Check.same(Long.class, reading.getObject("run_id").getClass());
            Check.same(1, reading.getObject("ordinal"));
            Check.that(reading.getDouble("cohesion") > 0, "no cohesion");
            String[] documentIds = (String[]) reading.getArray("document_ids").getArray();
            Check.that(documentIds.length == reading.getInt("support"), documentIds.length);
            Check.that(reading.getString("citations").contains('"' + documentIds[0] + '"'), "not cited");
            Check.same("jsonb", reading.getMetaData().getColumnTypeName(reading.findColumn("citations")));
        }
    }

    private static void timesHaveZones() throws SQLException {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = clarify(connection, "columns")) {
            Check.that(!answers(statement).isEmpty(), "no reading");
            try (Statement runs = connection.createStatement();
                    ResultSet run = runs.executeQuery(
                            "select created_at, finished_at from pgclarify.run where question = 'columns'")) {
                Check.that(run.next(), "no run");
                OffsetDateTime createdAt = run.getObject("created_at", OffsetDateTime.class);
                Check.that(createdAt.isBefore(run.getObject("finished_at", OffsetDateTime.class)), createdAt);
            }
        }
    }

    private static void preparedByTheServer() throws SQLException {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = clarify(connection, "again")) {
            List<String> first = answers(statement);
            Check.that(!first.isEmpty(), "no reading");
            Check.that(!((PGStatement) statement).isUseServerPrepare(), "prepared at once");
            for (int time = 1; time < 8; time++) {
                Check.same(first, answers(statement));
            }
            Check.that(((PGStatement) statement).isUseServerPrepare(), "not prepared");
        }
    }

    private static void arrays() throws SQLException {
        try (Connection connection = Check.connect("asker")) {
            Array questions = connection.createArrayOf("text", new String[] {"one", "two", "one"});
            Array keys = connection.createArrayOf("text", new String[] {"a", "b", "c"});
            List<String> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement(
                    "select distinct question_key from pgclarify.clarify_many(?, keys => ?, top_k => 4) order by 1")) {
                statement.setArray(1, questions);
                statement.setArray(2, keys);
                try (ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                }
            }
            Check.same(List.of("a", "b", "c"), found);
        }
    }

    private static void tableOfOnesOwn() throws SQLException {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = connection.prepareStatement(
                        "select article.id, article.title, reading.citations -> 0 ->> 'title'"
                                + " from pgclarify.clarify(?, top_k => 6) as reading"
                                + " inner join article on article.id = any(reading.document_ids::bigint[])")) {
            statement.setString(1, "joined");
            try (ResultSet row = statement.executeQuery()) {
                Check.that(row.next(), "no reading");
                Check.that(row.getLong(1) > 100, row.getLong(1));
                Check.same(row.getString(2), row.getString(3));
            }
        }
    }

    private static void batches() throws SQLException {
        try (Connection connection = Check.connect("asker")) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("select pgclarify.create_corpus('batched')");
            }
            try (PreparedStatement statement =
                    connection.prepareStatement("select pgclarify.add_document('batched', ?, ?, title => ?)")) {
                for (int number = 0; number < 100; number++) {
                    statement.setString(1, Integer.toString(number));
                    statement.setString(2, "Number " + number + " is the content of a document.");
                    statement.setString(3, "Number " + number);
                    statement.addBatch();
                }
                Check.same(100, statement.executeBatch().length);
            }
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "select documents from pgclarify.corpus where corpus = 'batched'")) {
                row.next();
                Check.same(100L, row.getLong(1));
            }
            connection.rollback();
        }
    }

    private static void rowsByPortions() throws SQLException {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = clarify(connection, "portions")) {
            List<String> atOnce = answers(statement);
            Check.that(atOnce.size() > 2, atOnce);
            connection.setAutoCommit(false);
            statement.setFetchSize(1);
            Check.same(atOnce, answers(statement));
            connection.rollback();
        }
    }

    private static void submittedInTransaction() throws SQLException {
        try (Connection connection = Check.connect("asker")) {
            connection.setAutoCommit(false);
            Array runIds;
            try (PreparedStatement statement =
                    connection.prepareStatement(
                            "select pgclarify.submit_many('clarify', ?, options => '{\"top_k\": 4}')")) {
                statement.setArray(1, connection.createArrayOf("text", new String[] {"three", "four"}));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    runIds = row.getArray(1);
                }
            }
            connection.commit();
            try (PreparedStatement statement =
                    connection.prepareStatement("select status from pgclarify.wait(?) union all"
                            + " select min(status) from pgclarify.result((?::bigint[])[1])")) {
                statement.setArray(1, runIds);
                statement.setArray(2, runIds);
                try (ResultSet row = statement.executeQuery()) {
                    int rows = 0;
                    while (row.next()) {
                        Check.same("succeeded", row.getString(1));
                        rows++;
                    }
                    Check.same(3, rows);
                }
            }
        }
    }

    private static void calledAsProcedure() throws SQLException {
        try (Connection connection = Check.connect("asker");
                CallableStatement call = connection.prepareCall("{? = call pgclarify.submit('clarify', ?)}")) {
            call.registerOutParameter(1, Types.BIGINT);
            call.setString(2, "called");
            call.execute();
            Check.that(call.getLong(1) > 0, "no run");
        }
    }

    private static void readOnly() throws SQLException {
        try (Connection connection = Check.connect("asker")) {
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            try (PreparedStatement statement = clarify(connection, "read only")) {
                Check.that(!answers(statement).isEmpty(), "no reading");
            }
            connection.commit();
        }
    }
}
