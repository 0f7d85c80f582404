-- Eight order lines: one of no region, one of a missing mark, one of no amount, one whose discount has too many digits.
CREATE SCHEMA ontology;
CREATE TABLE ontology.order_line (
    line_id VARCHAR, order_id VARCHAR, fiscal_period VARCHAR, legal_entity VARCHAR, region VARCHAR, sold_on DATE,
    amount DECIMAL(12,2), quantity INTEGER, weight DOUBLE, discount DECIMAL(12,4), _source_document VARCHAR, _source_page INTEGER
);
INSERT INTO ontology.order_line VALUES
    ('L1', 'O1', '2025-Q3', 'US', 'North', DATE '2025-07-05', 100.00, 1, 2.0, 1.0000, 'orders.pdf', 1),
    ('L2', 'O1', '2025-Q3', 'US', 'South', DATE '2025-07-05', 50.50, 2, 1.0, 0.0000, 'orders.pdf', 1),
    ('L3', 'O2', '2025-Q3', 'US', 'North', DATE '2025-08-01', 20.00, 4, 'NaN', 2.0050, 'orders.pdf', 2),
    ('L4', 'O3', '2025-Q3', 'US', NULL, DATE '2025-08-09', 7.25, 1, 3.0, 0.0000, 'orders.pdf', 2),
    ('L5', 'O3', '2025-Q3', 'US', 'n/a', DATE '2025-08-09', 2.25, 1, 4.0, 0.0000, 'orders.pdf', 2),
    ('L6', 'O4', '2025-Q3', 'UK', 'North', DATE '2025-09-02', 400.00, 1, 5.0, 0.0000, 'orders.pdf', 3),
    ('L7', 'O5', '2025-Q4', 'US', 'South', DATE '2025-10-02', NULL, 1, 6.0, 0.0000, 'orders.pdf', 4),
    ('L8', 'O6', '2025-Q4', 'US', 'South', DATE '2025-11-02', 11.00, 1, NULL, 0.0000, 'orders.pdf', 4);
CREATE TABLE ontology.stock_level (shop VARCHAR, fiscal_period VARCHAR, pieces INTEGER);
INSERT INTO ontology.stock_level VALUES ('Harbour', '2025-Q3', 40), ('Station', '2025-Q3', NULL), ('Harbour', '2025-Q4', 30);
CREATE TABLE ontology.customer (customer_id VARCHAR, company VARCHAR, credit_limit DECIMAL(12,2));
INSERT INTO ontology.customer VALUES ('C1', 'Refund Masters', 100.00), ('C2', 'Vat', 50.00);
CREATE TABLE ontology.sales_area (area VARCHAR);
INSERT INTO ontology.sales_area VALUES ('North'), ('South'), ('West');
