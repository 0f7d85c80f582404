CREATE SCHEMA raw;
CREATE SCHEMA ontology;
CREATE TABLE raw.pay (id VARCHAR, level VARCHAR, step VARCHAR, hourly_rate VARCHAR, paid VARCHAR, badge VARCHAR);
INSERT INTO raw.pay VALUES
    ('E1', 'A', '1', '26.00', '2025-08-01', 'b1'), ('E2', 'A', '2', '27.00', '2025-08-01', 'b2'),
    ('E3', 'B', '1', '20.00', '2025-08-01', 'b3');
CREATE TABLE raw.rate (level VARCHAR, step VARCHAR, starts VARCHAR, minimum VARCHAR);
INSERT INTO raw.rate VALUES
    ('A', '1', '2025-07-01', '25.00'), ('A', '2', '2025-07-01', '26.00'), ('B', '1', '2025-07-01', '28.00'),
    ('A', '1', '2024-07-01', '24.00');
CREATE TABLE raw.pass (number INTEGER, badge VARCHAR);
INSERT INTO raw.pass VALUES (1, 'b1'), (2, 'b2'), (3, 'b3');
CREATE VIEW ontology.pay AS SELECT * FROM raw.pay;
CREATE VIEW ontology.rate AS SELECT * FROM raw.rate;
CREATE VIEW ontology.pass AS SELECT * FROM raw.pass;
