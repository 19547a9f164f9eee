import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.postgresql.util.PSQLException;

/** Timeouts, cancelling and errors. The model never answers a question that has "endless" in it. */
final class Stopping {
    private static final String CLARIFY = "select * from pgclarify.clarify(?, top_k => 4)";
    private static final String NO_RUN = "no run";
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private Stopping() {}

    static void addTo(Map<String, Check.Topic> topics) {
        topics.put("a query timeout cancels the run", Stopping::queryTimeout);
        topics.put("cancelling cancels the run", Stopping::cancelling);
        topics.put("our timeout leaves the run alone", Stopping::ourTimeout);
        topics.put("errors have detail and hint", Stopping::errors);
    }

    private static void queryTimeout() throws Exception {
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = connection.prepareStatement(CLARIFY)) {
            String question = "endless by query timeout";
            statement.setString(1, question);
            // Once, unless that was before the run was entered.
            for (int seconds = 1; seconds < 60 && statusOf(connection, question).equals(NO_RUN); seconds *= 5) {
                statement.setQueryTimeout(seconds);
                Check.same("57014", stateOf(statement));
            }
            Check.same("cancelled", statusOf(connection, question));
            checkNoLoopback(connection);
            // The connection is as good as before.
            statement.setString(1, "after the query timeout");
            statement.setQueryTimeout(0);
            try (ResultSet reading = statement.executeQuery()) {
                Check.that(reading.next(), "no reading");
            }
        }
    }

    private static void cancelling() throws Exception {
        String question = "endless until cancelled";
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = connection.prepareStatement(CLARIFY)) {
            statement.setString(1, question);
            Thread canceller = new Thread(() -> cancelOnceEntered(statement, question));
            canceller.setDaemon(true);
            canceller.start();
            Check.same("57014", stateOf(statement));
            Check.same("cancelled", statusOf(connection, question));
            checkNoLoopback(connection);
        }
    }

    private static void cancelOnceEntered(Statement statement, String question) {
        try (Connection looking = Check.connect("asker")) {
            while (statusOf(looking, question).equals(NO_RUN)) {
                Thread.sleep(20);
            }
            statement.cancel();
        } catch (SQLException | InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void ourTimeout() throws Exception {
        String question = "endless by our timeout";
        try (Connection connection = Check.connect("asker");
                PreparedStatement statement = connection.prepareStatement(
                        "select * from pgclarify.clarify(?, top_k => 4, timeout => '300 milliseconds')")) {
            statement.setString(1, question);
            Check.same("PC002", stateOf(statement));
            String status = statusOf(connection, question);
            Check.that(status.equals("queued") || status.equals("running"), status);
            try (PreparedStatement cancel = connection.prepareStatement(
                    "select pgclarify.cancel(array[run_id]) from pgclarify.run where question = ?")) {
                cancel.setString(1, question);
                try (ResultSet row = cancel.executeQuery()) {
                    row.next();
                    Check.that(row.getBoolean(1), "not cancelled");
                }
            }
        }
    }

    private static void errors() throws Exception {
        try (Connection connection = Check.connect("asker");
                Statement statement = connection.createStatement()) {
            statement.executeQuery("select * from pgclarify.clarify('errors', options => '{\"serach\": \"dense\"}')");
            throw new AssertionError("an option that does not exist was taken");
        } catch (PSQLException refused) {
            Check.same("22023", refused.getSQLState());
            Check.that(refused.getServerErrorMessage().getDetail().contains("method"), refused);
            Check.that(refused.getServerErrorMessage().getHint() != null, refused);
        }
    }

    private static String stateOf(PreparedStatement statement) {
        try (ResultSet reading = statement.executeQuery()) {
            return "an answer";
        } catch (SQLException stopped) {
            return stopped.getSQLState();
        }
    }

    private static String statusOf(Connection connection, String question) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select status from pgclarify.run where question = ?")) {
            statement.setString(1, question);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getString(1) : NO_RUN;
            }
        }
    }

    private static void checkNoLoopback(Connection connection) throws Exception {
        Instant end = Instant.now().plus(PATIENCE);
        while (true) {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("select count(*) from pg_stat_activity"
                            + " where usename = 'pgclarify_loopback' and datname = current_database()")) {
                row.next();
                if (row.getLong(1) == 0) {
                    return;
                }
            }
            Check.that(Instant.now().isBefore(end), "a loopback is left");
            Thread.sleep(20);
        }
    }
}
